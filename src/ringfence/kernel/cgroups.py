"""Memory, processes and CPU time are counted and bounded for a whole tree of processes, and the tree dies at one word.

Takes: the control groups this process may make below its own.  Gives: groups with limits and what they measured, or
`Unavailable` with the reason.  Never: touches the root of a hierarchy, or a group it did not make.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ringfence.kernel import proc
from ringfence.kernel.syscalls import call

WANTED = ("memory", "pids", "cpuacct")
_V1_ROOT_REMEDY = "start ringfence in a control group of its own, for example as a systemd service"
_V2_REMEDY = "start ringfence as a systemd service with `Delegate=yes`, or in a container with its own cgroup tree"
_LEAF = "ringfence-host"
_MYSELF = b"0"
_KILL_ROUNDS = 8
_TRIAL_BYTES = 64 << 20
_TRIAL_PROCESSES = 16


@dataclass(frozen=True, kw_only=True)
class Unavailable:
    """A controller that cannot be used here: why, and what would change that."""

    reason: str
    remedy: str


@dataclass(frozen=True, kw_only=True)
class Hierarchy:
    """Where this process may make groups: a folder per controller, and what is missing."""

    version: int
    folders: Mapping[str, Path]
    missing: Mapping[str, Unavailable] = field(default_factory=dict[str, Unavailable])


@dataclass(frozen=True, kw_only=True)
class GroupLimits:
    """What a group may use; None leaves a controller unbounded."""

    memory_bytes: int | None = None
    processes: int | None = None


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What a group used so far; None where its controller is missing."""

    peak_memory_bytes: int | None
    memory_kills: int | None
    refused_processes: int | None
    cpu_microseconds: int | None


@dataclass(frozen=True, kw_only=True)
class Group:
    """One group: its folder in each hierarchy it lives in."""

    version: int
    folders: Mapping[str, Path]

    @property
    def places(self) -> tuple[Path, ...]:
        return tuple(dict.fromkeys(self.folders.values()))


def find(*, membership: Path = Path("/proc/self/cgroup"), mounts: Path = Path("/proc/self/mountinfo")) -> Hierarchy:
    """Look up the process's own group for each wanted controller, version 1 first where both are mounted."""
    own = _own_paths(membership.read_text())
    mounted = _mounted(mounts.read_text())
    if any(name in mounted for name in WANTED):
        return _find_v1(own, mounted=mounted)
    return _find_v2(own, mounted=mounted)


def create(hierarchy: Hierarchy, *, name: str, limits: GroupLimits) -> Group:
    """Make a group below this process's own and bound it; a bound that cannot be set is an error."""
    group = Group(version=hierarchy.version, folders={c: base / name for c, base in hierarchy.folders.items()})
    for place in group.places:
        place.mkdir()
    try:
        _bound(group, limits=limits)
    except (OSError, LookupError):
        remove(group)
        raise
    return group


def attach(group: Group, *, pid: int) -> None:
    """Move one process, with its future children, into the group."""
    for place in group.places:
        _write(place / "cgroup.procs", text=str(pid))


def doors(group: Group) -> tuple[Path, ...]:
    """The files through which a process moves itself into the group; see `enter`."""
    # Version 1 moves a single thread by `tasks` without the lock that every fork on the machine waits for.
    return tuple(place / ("tasks" if group.version == 1 else "cgroup.procs") for place in group.places)


def enter(door: int) -> None:
    """Move the calling process, while it has one thread, through a door that somebody with the right to opened."""
    call("write", door, _MYSELF, len(_MYSELF))


def members(group: Group) -> frozenset[int]:
    return frozenset(int(pid) for place in group.places for pid in (place / "cgroup.procs").read_text().split())


def read_usage(group: Group) -> Usage:
    """What the kernel measured for the whole group."""
    folders, old = group.folders, group.version == 1
    memory, pids, cpu = folders.get("memory"), folders.get("pids"), folders.get("cpuacct")
    return Usage(
        peak_memory_bytes=_number(memory, name="memory.max_usage_in_bytes" if old else "memory.peak"),
        memory_kills=memory_kills(group),
        refused_processes=_keyed(pids, name="pids.events", key="max"),
        cpu_microseconds=_cpu_v1(cpu) if old else _keyed(cpu, name="cpu.stat", key="usage_usec"),
    )


def memory_kills(group: Group) -> int | None:
    """How many processes the kernel has killed for the group's memory; None where nothing bounds it."""
    events = "memory.oom_control" if group.version == 1 else "memory.events"
    return _keyed(group.folders.get("memory"), name=events, key="oom_kill")


def count_memberships(pid: int, *, name: str) -> int:
    """In how many hierarchies the process is in a group of this name, as the kernel shows it to this process."""
    return proc.read(f"/proc/{pid}/cgroup").count(f"/{name}\n".encode())


def kill(group: Group) -> frozenset[int]:
    """SIGKILL everything in the group; gives the pids that have not ended yet, to be waited for."""
    if group.version == 2:
        for place in group.places:
            _write(place / "cgroup.kill", text="1")
        return members(group)
    seen: frozenset[int] = frozenset()
    # Version 1 has no atomic kill: look again until a round finds nobody new, since a fork may have raced.
    for _ in range(_KILL_ROUNDS):
        found = members(group)
        if found <= seen:
            break
        for pid in found:
            _kill_one(pid)
        seen |= found
    return members(group)


def remove(group: Group) -> None:
    """Remove an empty group; OSError (EBUSY) while somebody lives in it."""
    for place in group.places:
        if place.exists():
            place.rmdir()


def settle(hierarchy: Hierarchy) -> Hierarchy | Unavailable:
    """Version 2 only: move this group's processes to a leaf, since a group with processes cannot share out control."""
    if hierarchy.version == 1:
        return hierarchy
    base = next(iter(hierarchy.folders.values()), None)
    if base is None:
        return Unavailable(reason="no control group controller is delegated to this process", remedy=_V2_REMEDY)
    try:
        leaf = base / _LEAF
        leaf.mkdir(exist_ok=True)
        for pid in (base / "cgroup.procs").read_text().split():
            _write(leaf / "cgroup.procs", text=pid)
        _write(base / "cgroup.subtree_control", text=" ".join(f"+{_v2_name(name)}" for name in hierarchy.folders))
    except OSError as failure:
        return Unavailable(reason=f"the control group `{base}` is not delegated: {failure.strerror}", remedy=_V2_REMEDY)
    return hierarchy


def settled(hierarchy: Hierarchy) -> Hierarchy:
    """The hierarchy, ready to make groups in; one that cannot be is empty and says why of each controller."""
    ready = settle(hierarchy) if hierarchy.folders else hierarchy
    if isinstance(ready, Unavailable):
        return Hierarchy(version=hierarchy.version, folders={}, missing=dict.fromkeys(WANTED, ready))
    return ready


def attempt(hierarchy: Hierarchy, *, controller: str) -> str | None:
    """Why no group with this controller can be made here; None where one was made, and is gone again.

    Version 2 bounds a group only once it is settled, which a mere trial must not do: there it is made unbounded.
    """
    base = hierarchy.folders[controller]
    bounded = hierarchy.version == 1
    wanted = GroupLimits(
        memory_bytes=_TRIAL_BYTES if bounded and controller == "memory" else None,
        processes=_TRIAL_PROCESSES if bounded and controller == "pids" else None,
    )
    only = Hierarchy(version=hierarchy.version, folders={controller: base})
    try:
        remove(create(only, name=f"ringfence-trial-{os.getpid()}", limits=wanted))
    except OSError as failure:
        return f"no group can be made below `{base}`: {(failure.strerror or '').lower()}"
    return None


def _find_v1(own: Mapping[str, str], *, mounted: Mapping[str, tuple[Path, str]]) -> Hierarchy:
    folders: dict[str, Path] = {}
    missing: dict[str, Unavailable] = {}
    for name in WANTED:
        place = _place(own.get(name), mount=mounted.get(name))
        if isinstance(place, Path) and not os.access(place, os.W_OK):
            place = Unavailable(reason=f"the control group `{place}` is not writable", remedy=_V1_ROOT_REMEDY)
        if isinstance(place, Path):
            folders[name] = place
        else:
            missing[name] = place
    return Hierarchy(version=1, folders=folders, missing=missing)


def _find_v2(own: Mapping[str, str], *, mounted: Mapping[str, tuple[Path, str]]) -> Hierarchy:
    # Who settled before lives in the leaf; groups are made beside it.
    place = _place(own.get("", "").removesuffix(f"/{_LEAF}") or None, mount=mounted.get(""))
    if isinstance(place, Path) and not os.access(place / "cgroup.procs", os.W_OK):
        place = Unavailable(reason=f"the control group `{place}` is not delegated to this user", remedy=_V2_REMEDY)
    if isinstance(place, Unavailable):
        return Hierarchy(version=2, folders={}, missing=dict.fromkeys(WANTED, place))
    offered = (place / "cgroup.controllers").read_text().split()
    absent = Unavailable(reason=f"the control group `{place}` does not offer it", remedy=_V2_REMEDY)
    return Hierarchy(
        version=2,
        folders={name: place for name in WANTED if _v2_name(name) in offered},
        missing={name: absent for name in WANTED if _v2_name(name) not in offered},
    )


def _place(path: str | None, *, mount: tuple[Path, str] | None) -> Path | Unavailable:
    """This process's own folder in a hierarchy, unless that is the hierarchy's root."""
    if path is None or mount is None:
        return Unavailable(reason="the controller is not mounted", remedy=_V1_ROOT_REMEDY)
    point, root = mount
    relative = os.path.relpath(path, root)
    # A path that climbs lies outside this process's cgroup namespace, or outside what is mounted.
    if path == "/" or ".." in (*Path(path).parts, *Path(relative).parts):
        return Unavailable(reason="this process is in the hierarchy's root group", remedy=_V1_ROOT_REMEDY)
    return point / relative


def _own_paths(text: str) -> dict[str, str]:
    """Controller to path, from lines such as `4:cpu,cpuacct:/a/b`; version 2 has no controller name."""
    paths: dict[str, str] = {}
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        paths.update(dict.fromkeys(controllers.split(","), path))
    return paths


def _mounted(text: str) -> dict[str, tuple[Path, str]]:
    """Controller to (mount point, path of the mounted folder), from mountinfo."""
    mounted: dict[str, tuple[Path, str]] = {}
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        (root, point), (kind, _, options) = before.split()[3:5], after.split()[:3]
        if kind == "cgroup2":
            mounted.setdefault("", (Path(point), root))
        elif kind == "cgroup":
            mounted.update({name: (Path(point), root) for name in options.split(",") if name in WANTED})
    return mounted


def _v2_name(name: str) -> str:
    return "cpu" if name == "cpuacct" else name


def _bound(group: Group, *, limits: GroupLimits) -> None:
    if limits.memory_bytes is not None:
        memory, text = group.folders["memory"], str(limits.memory_bytes)
        _write(memory / ("memory.limit_in_bytes" if group.version == 1 else "memory.max"), text=text)
        # Without this the bound on memory only moves the excess to swap; the file exists where swap is counted.
        swap = memory / ("memory.memsw.limit_in_bytes" if group.version == 1 else "memory.swap.max")
        if swap.exists():
            _write(swap, text=text if group.version == 1 else "0")
    if limits.processes is not None:
        _write(group.folders["pids"] / "pids.max", text=str(limits.processes))


def _write(path: Path, *, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def _text(folder: Path | None, *, name: str) -> str:
    """What a file of a group says; empty where there is none."""
    try:
        return proc.read(f"{folder}/{name}").decode() if folder else ""
    except FileNotFoundError:
        return ""


def _number(folder: Path | None, *, name: str) -> int | None:
    text = _text(folder, name=name)
    return int(text) if text else None


def _keyed(folder: Path | None, *, name: str, key: str) -> int | None:
    pairs = dict(line.split() for line in _text(folder, name=name).splitlines())
    return int(pairs[key]) if key in pairs else None


def _cpu_v1(folder: Path | None) -> int | None:
    nanoseconds = _number(folder, name="cpuacct.usage")
    return None if nanoseconds is None else nanoseconds // 1000


def _kill_one(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
