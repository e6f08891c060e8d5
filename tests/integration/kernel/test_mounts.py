"""Mounts show what was given and refuse the rest, in a mount namespace of the child's own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ringfence.kernel import mounts
from ringfence.kernel.mounts import Attribute
from ringfence.kernel.namespaces import NEW_MOUNTS, NEW_PIDS, NEW_USER, IdMap, clone, write_maps
from ringfence.kernel.syscalls import call
from tests.integration.kernel.children import INNER_UID, UNUSED_UID, errno_of, in_child

pytestmark = pytest.mark.req("SBX-3")

JAIL = NEW_USER | NEW_MOUNTS
SIZE = 1 << 20


def on_scratch(act: Callable[[str], object], *, flags: int = JAIL, size: int = SIZE, inodes: int = 64) -> object:
    """Run `act` with the path of a fresh scratch mount."""

    def play() -> object:
        mounts.make_private()
        mounts.mount_scratch("/mnt", size_bytes=size, inodes=inodes)
        return act("/mnt")

    return in_child(play, flags=flags)


def bind(source: str, *, target: str, attributes: Attribute) -> None:
    os.mkdir(target)
    tree = mounts.clone_tree(source)
    mounts.restrict_tree(tree, attributes=attributes)
    mounts.attach(tree, target=target)
    os.close(tree)


def fill(path: str, *, bytes_wanted: int) -> None:
    Path(path).write_bytes(bytes(bytes_wanted))


def test_scratch_is_bounded_in_bytes() -> None:
    assert on_scratch(lambda at: errno_of(lambda: fill(f"{at}/file", bytes_wanted=SIZE // 2))) == "done"
    assert on_scratch(lambda at: errno_of(lambda: fill(f"{at}/file", bytes_wanted=SIZE * 2))) == "ENOSPC"


def test_scratch_is_bounded_in_files() -> None:
    def touch_many(at: str) -> str:
        return errno_of(lambda: [Path(f"{at}/{number}").write_bytes(b"") for number in range(100)])

    assert on_scratch(touch_many, inodes=200) == "done"
    assert on_scratch(touch_many, inodes=50) == "ENOSPC"


def test_scratch_takes_no_device_and_no_setuid() -> None:
    options = on_scratch(
        lambda at: next(line for line in Path("/proc/self/mounts").read_text().splitlines() if f" {at} " in line)
    )
    assert {"nosuid", "nodev"} <= set(str(options).split()[3].split(","))


def test_a_read_only_tree_cannot_be_written() -> None:
    def write_into(at: str, attributes: Attribute) -> str:
        os.mkdir(f"{at}/source")
        bind(f"{at}/source", target=f"{at}/bound", attributes=attributes)
        return errno_of(lambda: fill(f"{at}/bound/file", bytes_wanted=1))

    assert on_scratch(lambda at: write_into(at, Attribute.NO_SETUID)) == "done"
    assert on_scratch(lambda at: write_into(at, mounts.READ_ONLY_TREE)) == "EROFS"


def test_a_tree_without_execution_runs_nothing() -> None:
    def run_from(at: str, attributes: Attribute) -> str:
        bind("/usr/bin", target=f"{at}/bin", attributes=attributes)
        return errno_of(lambda: subprocess.run([f"{at}/bin/true"], check=True))

    assert on_scratch(lambda at: run_from(at, mounts.READ_ONLY_TREE)) == "done"
    assert on_scratch(lambda at: run_from(at, mounts.READ_ONLY_TREE | Attribute.NO_EXECUTE)) == "EACCES"


def test_what_is_mounted_below_a_tree_is_restricted_with_it() -> None:
    def write_below(at: str) -> str:
        os.mkdir(f"{at}/source")
        os.mkdir(f"{at}/source/inner")
        mounts.mount_scratch(f"{at}/source/inner", size_bytes=SIZE, inodes=16)
        bind(f"{at}/source", target=f"{at}/bound", attributes=mounts.READ_ONLY_TREE)
        return errno_of(lambda: fill(f"{at}/bound/inner/file", bytes_wanted=1))

    assert on_scratch(write_below) == "EROFS"


def undo_read_only(at: str) -> list[str]:
    remount_writable = 0x1000 | 0x20 | 2 | 4
    return [
        errno_of(lambda: call("umount2", f"{at}/bound".encode(), 2)),
        errno_of(lambda: call("mount", None, f"{at}/bound".encode(), None, remount_writable, None)),
    ]


def test_a_nested_user_namespace_cannot_undo_a_read_only_tree() -> None:
    def nested(at: str, flags: int) -> object:
        bind("/usr", target=f"{at}/bound", attributes=mounts.READ_ONLY_TREE)
        return in_child_of_jail(lambda: undo_read_only(at), flags=flags)

    assert on_scratch(lambda at: nested(at, NEW_MOUNTS)) != ["EINVAL", "EPERM"]
    assert on_scratch(lambda at: nested(at, NEW_MOUNTS | NEW_USER)) == ["EINVAL", "EPERM"]


def in_child_of_jail(act: Callable[[], list[str]], *, flags: int) -> list[str]:
    """A second clone inside a jail: it maps itself, as a spare does."""
    answer, told = os.pipe()
    pid = clone(flags)
    if pid == 0:
        try:
            if flags & NEW_USER:
                same = IdMap(inside=INNER_UID, outside=INNER_UID)
                write_maps("self", uid=same, gid=same, setgroups="deny")
            os.write(told, " ".join(act()).encode())
        finally:
            os._exit(0)
    os.close(told)
    with os.fdopen(answer) as reader:
        text = reader.read()
    os.waitpid(pid, 0)
    return text.split()


def test_the_old_root_is_gone_after_entering_a_new_one() -> None:
    def enter(at: str) -> list[object]:
        before = errno_of(lambda: os.stat("/etc/passwd"))
        os.mkdir(f"{at}/proc")
        mounts.mount_proc(f"{at}/proc")
        mounts.enter_root(at)
        climbed = errno_of(lambda: os.stat("../../../../etc/passwd"))
        mounted = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
        return [before, errno_of(lambda: os.stat("/etc/passwd")), climbed, os.listdir("/"), mounted]

    gave = on_scratch(enter, flags=JAIL | NEW_PIDS)
    assert gave == ["done", "ENOENT", "ENOENT", ["proc"], ["/", "/proc"]]


def test_a_root_made_read_only_takes_no_file() -> None:
    def write(at: str) -> list[str]:
        before = errno_of(lambda: fill(f"{at}/a", bytes_wanted=1))
        mounts.make_read_only(at)
        return [before, errno_of(lambda: fill(f"{at}/b", bytes_wanted=1))]

    assert on_scratch(write) == ["done", "EROFS"]


def test_proc_shows_own_processes_and_nothing_of_the_kernel() -> None:
    def look(at: str) -> list[object]:
        mounts.mount_proc(at)
        return [sorted(name for name in os.listdir(at) if name.isdigit()), errno_of(lambda: os.stat(f"{at}/sys"))]

    assert on_scratch(look, flags=JAIL | NEW_PIDS) == [["1"], "ENOENT"]


def test_proc_nests() -> None:
    def again(at: str) -> object:
        mounts.mount_proc("/proc")
        return in_child_of_jail(
            lambda: [errno_of(lambda: mounts.mount_proc("/proc"))], flags=NEW_USER | NEW_MOUNTS | NEW_PIDS
        )

    assert on_scratch(again, flags=JAIL | NEW_PIDS) == ["done"]


def test_a_shared_mount_is_cut_off_from_its_peers() -> None:
    share = 0x10_0000

    def peers_of(at: str) -> list[str]:
        line = next(line for line in Path("/proc/self/mountinfo").read_text().splitlines() if f" {at} " in line)
        return [word.split(":")[0] for word in line.split() if word.startswith(("shared:", "master:"))]

    def cut(at: str) -> list[list[str]]:
        call("mount", None, at.encode(), None, share, None)
        before = peers_of(at)
        mounts.make_private()
        return [before, peers_of(at)]

    assert on_scratch(cut) == [["shared"], []]


def test_a_private_mount_does_not_reach_the_host() -> None:
    before = Path("/proc/self/mounts").read_text()
    on_scratch(lambda _: None)
    assert Path("/proc/self/mounts").read_text() == before


def user_namespace(*, inside: int, outside: int) -> int:
    """A descriptor of a user namespace with this one mapping; its process is gone."""
    gate, opened = os.pipe()
    pid = clone(NEW_USER)
    if pid == 0:
        os.close(opened)
        os.read(gate, 1)
        os._exit(0)
    ids = IdMap(inside=inside, outside=outside)
    write_maps(pid, uid=ids, gid=ids, setgroups="keep")
    descriptor = os.open(f"/proc/{pid}/ns/user", os.O_RDONLY)
    os.close(opened)
    os.close(gate)
    os.waitpid(pid, 0)
    return descriptor


def test_mapped_owners_let_a_jailed_uid_use_a_closed_folder(tmp_path: Path) -> None:
    granted = tmp_path / "granted"
    granted.mkdir(mode=0o700)
    (granted / "old").write_text("mine")

    def use(tree: int) -> Callable[[str], list[str]]:
        def play(at: str) -> list[str]:
            os.mkdir(f"{at}/granted")
            mounts.attach(tree, target=f"{at}/granted")
            read = errno_of(lambda: Path(f"{at}/granted/old").read_text())
            return [read, errno_of(lambda: fill(f"{at}/granted/new", bytes_wanted=1))]

        return play

    plain, mapped = mounts.clone_tree(str(granted)), mounts.clone_tree(str(granted))
    owners = user_namespace(inside=0, outside=UNUSED_UID)
    mounts.map_owners(mapped, user_namespace=owners)
    assert on_scratch(use(plain)) == ["EACCES", "EACCES"]
    assert on_scratch(use(mapped)) == ["done", "done"]
    assert (granted / "new").stat().st_uid == os.geteuid()
    for descriptor in (plain, mapped, owners):
        os.close(descriptor)


def test_what_a_fresh_mount_covers_is_shown_again_where_it_was() -> None:
    """A folder, a folder within it, and a file apart; with its neighbours gone."""

    def cover(at: str) -> list[str]:
        for folder in ("top/kept/inner", "top/other"):
            os.makedirs(f"{at}/{folder}")
        for file in ("top/kept/inner/note", "top/other/file", "top/other/neighbour"):
            Path(f"{at}/{file}").write_text(file, encoding="utf-8")
        held = [mounts.hold(f"{at}/top/{name}") for name in ("kept", "kept/inner", "other/file")]
        mounts.mount_scratch(f"{at}/top", size_bytes=SIZE, inodes=64)
        mounts.bind_again(held, below=f"{at}/top")
        found = [path for path in Path(f"{at}/top").rglob("*") if path.is_file()]
        return sorted(f"{path.relative_to(at)}: {path.read_text(encoding='utf-8')}" for path in found)

    assert on_scratch(cover) == ["top/kept/inner/note: top/kept/inner/note", "top/other/file: top/other/file"]
