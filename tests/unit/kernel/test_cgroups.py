"""Control groups are found below the process's own group; version 2 is tried against a tree of its shape."""

from __future__ import annotations

from pathlib import Path

import pytest

from ringfence.kernel.cgroups import (
    WANTED,
    Group,
    GroupLimits,
    Hierarchy,
    Unavailable,
    Usage,
    attach,
    attempt,
    create,
    find,
    kill,
    members,
    read_usage,
    settle,
    settled,
)

pytestmark = pytest.mark.req("SBX-3")


def v2_tree(folder: Path, *, own: str = "/app.service", controllers: str = "cpu memory pids") -> Path:
    group = folder / own.lstrip("/")
    group.mkdir(parents=True, exist_ok=True)
    (group / "cgroup.controllers").write_text(controllers)
    (group / "cgroup.procs").write_text("41\n42\n")
    (group / "cgroup.subtree_control").write_text("")
    return group


def looked_up(folder: Path, *, membership: str, mounts: str) -> Hierarchy:
    (folder / "membership").write_text(membership)
    (folder / "mounts").write_text(mounts)
    return find(membership=folder / "membership", mounts=folder / "mounts")


def v2_mount(folder: Path, *, root: str = "/") -> str:
    return f"30 23 0:26 {root} {folder} rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"


def test_version_2_offers_what_its_own_group_offers(tmp_path: Path) -> None:
    group = v2_tree(tmp_path, controllers="memory pids")
    found = looked_up(tmp_path, membership="0::/app.service\n", mounts=v2_mount(tmp_path))
    assert (found.version, found.folders) == (2, {"memory": group, "pids": group})
    assert set(found.missing) == {"cpuacct"}


def test_a_mount_of_a_part_of_the_tree_is_understood(tmp_path: Path) -> None:
    group = v2_tree(tmp_path, own="/inner")
    found = looked_up(tmp_path, membership="0::/pod/inner\n", mounts=v2_mount(tmp_path, root="/pod"))
    assert found.folders["memory"] == group


@pytest.mark.parametrize(("own", "root"), [("/", "/"), ("/../other", "/"), ("/else", "/pod")])
def test_the_root_of_a_hierarchy_is_never_used(tmp_path: Path, own: str, root: str) -> None:
    v2_tree(tmp_path, own="/")
    found = looked_up(tmp_path, membership=f"0::{own}\n", mounts=v2_mount(tmp_path, root=root))
    assert found.folders == {}
    assert "root group" in found.missing["memory"].reason
    assert found.missing["memory"].remedy


def test_version_1_is_found_by_controller(tmp_path: Path) -> None:
    (tmp_path / "memory" / "mine").mkdir(parents=True)
    mounts = (
        f"31 23 0:27 / {tmp_path}/memory rw - cgroup cgroup rw,memory\n"
        f"32 23 0:28 / {tmp_path}/pids rw - cgroup cgroup rw,pids\n"
        + v2_mount(tmp_path / "unified")
    )  # fmt: skip
    found = looked_up(tmp_path, membership="4:memory:/mine\n3:pids:/\n2:cpu,cpuacct:/x\n0::/\n", mounts=mounts)
    assert (found.version, found.folders) == (1, {"memory": tmp_path / "memory" / "mine"})
    assert found.missing["pids"].reason == "this process is in the hierarchy's root group"
    assert found.missing["cpuacct"].reason == "the controller is not mounted"


def test_version_2_settles_its_processes_in_a_leaf_and_shares_out_control(tmp_path: Path) -> None:
    group = v2_tree(tmp_path)
    leaf = group / "ringfence-host"
    leaf.mkdir()
    (leaf / "cgroup.procs").write_text("")
    hierarchy = looked_up(tmp_path, membership="0::/app.service\n", mounts=v2_mount(tmp_path))
    assert settle(hierarchy) == hierarchy
    assert (leaf / "cgroup.procs").read_text() == "42"
    assert (group / "cgroup.subtree_control").read_text() == "+memory +pids +cpu"


def test_version_2_without_delegation_is_unavailable_and_says_so(tmp_path: Path) -> None:
    group = v2_tree(tmp_path)
    hierarchy = looked_up(tmp_path, membership="0::/app.service\n", mounts=v2_mount(tmp_path))
    (group / "cgroup.subtree_control").unlink()
    (group / "cgroup.procs").write_text("")
    refused = settle(hierarchy)
    assert isinstance(refused, Unavailable)
    assert "not delegated" in refused.reason


def v2_group(tmp_path: Path) -> Group:
    names = ("cgroup.procs", "cgroup.kill", "memory.max", "memory.swap.max", "pids.max")
    for name in names:
        (tmp_path / name).write_text("")
    return Group(version=2, folders=dict.fromkeys(("memory", "pids", "cpuacct"), tmp_path))


def test_version_2_usage_is_read_from_its_files(tmp_path: Path) -> None:
    group = v2_group(tmp_path)
    (tmp_path / "memory.peak").write_text("4096\n")
    (tmp_path / "memory.events").write_text("low 0\nmax 3\noom 1\noom_kill 1\n")
    (tmp_path / "pids.events").write_text("max 2\n")
    (tmp_path / "cpu.stat").write_text("usage_usec 77\nuser_usec 70\n")
    assert read_usage(group) == Usage(
        peak_memory_bytes=4096, memory_kills=1, refused_processes=2, cpu_microseconds=77
    )  # fmt: skip


def test_what_a_kernel_does_not_measure_is_none_and_not_zero(tmp_path: Path) -> None:
    usage = read_usage(v2_group(tmp_path))
    assert usage == Usage(peak_memory_bytes=None, memory_kills=None, refused_processes=None, cpu_microseconds=None)


def test_version_2_attaches_and_kills_by_one_word(tmp_path: Path) -> None:
    group = v2_group(tmp_path)
    attach(group, pid=41)
    assert members(group) == {41}
    assert kill(group) == {41}
    assert (tmp_path / "cgroup.kill").read_text() == "1"


def test_a_bound_without_its_controller_is_an_error_and_leaves_no_group(tmp_path: Path) -> None:
    hierarchy = Hierarchy(version=2, folders={"cpuacct": tmp_path})
    with pytest.raises(LookupError):
        create(hierarchy, name="call", limits=GroupLimits(memory_bytes=1))
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_settled_before_makes_its_groups_beside_its_leaf(tmp_path: Path) -> None:
    group = v2_tree(tmp_path)
    found = looked_up(tmp_path, membership="0::/app.service/ringfence-host\n", mounts=v2_mount(tmp_path))
    assert found.folders["memory"] == group


def test_a_hierarchy_that_does_not_settle_is_empty_and_says_why(tmp_path: Path) -> None:
    group = v2_tree(tmp_path)
    hierarchy = looked_up(tmp_path, membership="0::/app.service\n", mounts=v2_mount(tmp_path))
    (group / "cgroup.subtree_control").unlink()
    (group / "cgroup.procs").write_text("")
    found = settled(hierarchy)
    assert found.folders == {}
    assert {"not delegated" in found.missing[name].reason for name in WANTED} == {True}


def test_nothing_is_settled_where_nothing_was_found(tmp_path: Path) -> None:
    nothing = Hierarchy(version=2, folders={})
    assert settled(nothing) is nothing


def test_a_trial_of_version_2_settles_nobody_and_leaves_no_group(tmp_path: Path) -> None:
    group = v2_tree(tmp_path)
    hierarchy = looked_up(tmp_path, membership="0::/app.service\n", mounts=v2_mount(tmp_path))
    before = sorted(group.iterdir())
    assert attempt(hierarchy, controller="memory") is None
    assert sorted(group.iterdir()) == before
    assert (group / "cgroup.subtree_control").read_text() == ""
