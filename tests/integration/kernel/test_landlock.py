"""A restricted child keeps what it was granted and loses the rest, on this kernel and as older ones would do it."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ringfence.kernel import landlock, limits, mounts
from ringfence.kernel.landlock import Ruleset
from ringfence.kernel.namespaces import NEW_MOUNTS, NEW_USER
from tests.integration.kernel.children import errno_of, in_child

pytestmark = pytest.mark.req("SBX-3")


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    (tmp_path / "granted").mkdir()
    (tmp_path / "secret").write_text("x")
    return tmp_path / "secret"


def restricted(act: Callable[[], object], *, granted: Path, rights: int, version: int | None = None) -> object:
    def play() -> object:
        limits.set_no_new_privileges()
        with Ruleset(version=landlock.version() if version is None else version) as rules:
            rules.allow(str(granted), rights=rights)
            rules.restrict_self()
        return act()

    return in_child(play)


def test_this_kernel_has_a_version_that_knows_every_right() -> None:
    assert landlock.version() >= 6
    assert landlock.missing(landlock.version()) == ()


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5, 6])
def test_what_was_not_granted_is_refused_at_every_version(secret: Path, version: int) -> None:
    granted = secret.parent / "granted"

    def reach() -> list[str]:
        return [
            errno_of(secret.read_text),
            errno_of(lambda: os.listdir(secret.parent)),
            errno_of(lambda: secret.write_text("y")),
            errno_of(secret.unlink),
            errno_of(lambda: (granted / "own").write_text("mine")),
        ]

    rights = landlock.EVERYTHING_BUT_EXECUTE
    assert in_child(reach)[:3] == ["done"] * 3
    secret.write_text("x")
    assert restricted(reach, granted=granted, rights=rights, version=version) == ["EACCES"] * 4 + ["done"]


def test_a_version_before_3_cannot_refuse_truncation(secret: Path) -> None:
    def cut(version: int) -> object:
        return restricted(
            lambda: errno_of(lambda: os.truncate(secret, 0)),
            granted=secret.parent,
            rights=landlock.READ,
            version=version,
        )

    assert [cut(2), cut(3)] == ["done", "EACCES"]


def test_nothing_executes_without_the_right(secret: Path) -> None:
    binary = secret.parent / "granted" / "true"
    shutil.copy("/usr/bin/true", binary)
    run = lambda: errno_of(lambda: subprocess.run([binary], check=True))  # noqa: E731
    everything = landlock.EVERYTHING_BUT_EXECUTE
    assert restricted(run, granted=Path("/"), rights=everything | landlock.READ_AND_EXECUTE) == "done"
    assert restricted(run, granted=Path("/"), rights=everything) == "EACCES"


def test_a_file_can_be_granted_by_itself(secret: Path) -> None:
    read = lambda: [errno_of(secret.read_text), errno_of(lambda: os.listdir(secret.parent))]  # noqa: E731
    assert restricted(read, granted=secret, rights=landlock.READ) == ["done", "EACCES"]


def test_tcp_and_abstract_sockets_and_signals_are_refused(secret: Path) -> None:
    parent, name = os.getpid(), f"\0ringfence-{os.getpid()}"
    with socket.socket() as tcp, socket.socket(socket.AF_UNIX) as abstract:
        tcp.bind(("127.0.0.1", 0))
        tcp.listen()
        abstract.bind(name)
        abstract.listen()

        def reach() -> list[str]:
            return [
                errno_of(lambda: socket.socket().connect(tcp.getsockname())),
                errno_of(lambda: socket.socket().bind(("127.0.0.1", 0))),
                errno_of(lambda: socket.socket(socket.AF_UNIX).connect(name)),
                errno_of(lambda: os.kill(parent, signal.SIGCONT)),
            ]

        assert in_child(reach) == ["done"] * 4
        assert restricted(reach, granted=secret, rights=landlock.READ) == ["EACCES", "EACCES", "EPERM", "EPERM"]


def test_a_restricted_process_cannot_mount() -> None:
    def play() -> list[str]:
        mounts.make_private()
        before = errno_of(lambda: mounts.mount_scratch("/mnt", size_bytes=4096, inodes=4))
        limits.set_no_new_privileges()
        with Ruleset(version=landlock.version()) as rules:
            rules.restrict_self()
        return [before, errno_of(lambda: mounts.mount_scratch("/mnt", size_bytes=4096, inodes=4))]

    assert in_child(play, flags=NEW_USER | NEW_MOUNTS) == ["done", "EPERM"]


def test_a_rule_on_the_parent_holds_for_a_scratch_mounted_later() -> None:
    def play(rule_on: str) -> str:
        mounts.make_private()
        mounts.mount_scratch("/mnt", size_bytes=1 << 16, inodes=16)
        os.makedirs("/mnt/parent/scratch")
        with Ruleset(version=landlock.version()) as rules:
            rules.allow(rule_on, rights=landlock.EVERYTHING_BUT_EXECUTE)
            mounts.mount_scratch("/mnt/parent/scratch", size_bytes=1 << 16, inodes=16)
            limits.set_no_new_privileges()
            rules.restrict_self()
        return errno_of(lambda: Path("/mnt/parent/scratch/file").write_text("x"))

    flags = NEW_USER | NEW_MOUNTS
    assert in_child(lambda: play("/mnt/parent/scratch"), flags=flags) == "EACCES"
    assert in_child(lambda: play("/mnt/parent"), flags=flags) == "done"
