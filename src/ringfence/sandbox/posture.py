"""What the kernel was seen to enforce: from outside at every process, from inside before the tool was imported.

Takes: pids and a measuring child's answers.  Gives: a `Posture` and `Sighting`s for the record, or a refusal.
Never: concludes from what a process says about itself after tool code ran in it.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ringfence.contract.fingerprint import fingerprint
from ringfence.errors import CallRefused
from ringfence.inside.layout import INNER_ID, SCRATCH
from ringfence.inside.measure import tries_with
from ringfence.kernel import proc
from ringfence.kernel.status import ProcessStatus, parse_status, read_namespaces, read_status

_FILTER_MODE = 2
_OF_A_JAIL = ("user", "mnt", "pid", "net", "ipc", "uts")
OF_A_CALL = ("user", "mnt", "pid", "ipc")
OF_A_CALL_WITH_NETWORK = (*OF_A_CALL, "net")
# What a need makes possible that a jail without it must refuse.
_MADE_POSSIBLE: Mapping[str, frozenset[str]] = {"network": frozenset({"new socket"})}
_NOT_SHOWN: Mapping[str, str] = {}
_CHANNELS = [0, 1, 2, 3]


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """What the host itself has, so that only what a jail adds is counted."""

    filters: int
    depth: int
    namespaces: Mapping[str, str]

    @classmethod
    def of(cls, fork_server: int) -> Baseline:
        status = read_status(fork_server)
        return cls(filters=status.seccomp_filters, depth=len(status.pids), namespaces=namespaces_of(fork_server))


@dataclass(frozen=True, kw_only=True)
class Sighting:
    """One process as the kernel showed it to the host."""

    pid: int
    status: ProcessStatus
    namespaces: Mapping[str, str]
    uid_map: str

    def document(self) -> dict[str, Any]:
        status = self.status
        return {
            "pid": self.pid,
            "pids": list(status.pids),
            "parent": status.parent,
            "seccomp": status.seccomp_mode,
            "filters": status.seccomp_filters,
            "no_new_privileges": status.no_new_privileges,
            "capabilities": f"{status.effective | status.permitted | status.inheritable | status.ambient:x}",
            "uid": status.uids[0],
            "uid_map": self.uid_map,
            "threads": status.threads,
            "namespaces": dict(self.namespaces) or "not shown to an ordinary user",
        }


@dataclass(frozen=True, kw_only=True)
class Posture:
    """What one jail was seen to enforce."""

    level: Literal["full", "confined"]
    inside: Mapping[str, Any]
    controllers: tuple[str, ...]
    zygote: Sighting
    inside_digest: str = field(default="")

    def document(self) -> dict[str, Any]:
        return {
            "posture": self.level,
            "inside": dict(self.inside),
            "cgroup": list(self.controllers),
            "zygote": self.zygote.document(),
        }


def sight(pid: int, *, status: bytes | None = None) -> Sighting:
    """Read a process from outside; not its status, where that was read for this."""
    uid_map = b" ".join(proc.read(f"/proc/{pid}/uid_map").split()).decode()
    shown = read_status(pid) if status is None else parse_status(status)
    return Sighting(pid=pid, status=shown, namespaces=namespaces_of(pid), uid_map=uid_map)


def namespaces_of(pid: int) -> Mapping[str, str]:
    """By kind; empty where the kernel does not show them to an ordinary user."""
    try:
        return read_namespaces(pid)
    except PermissionError:
        return _NOT_SHOWN


def check_zygote(seen: Sighting, *, baseline: Baseline, warden: int, uid: int) -> None:
    """Refuse a zygote that is not confined before it imports anything."""
    problems = _common(seen, warden=warden, uid=uid, filters=baseline.filters + 1)
    if len(seen.status.pids) != baseline.depth + 1 or seen.status.pids[-1] == 1:
        problems.append(f"its pids are {seen.status.pids}")
    problems += _shared(seen, other=baseline.namespaces, kinds=_OF_A_JAIL)
    _refuse(problems, who="a zygote")


def check_spare(
    seen: Sighting,
    *,
    baseline: Baseline,
    warden: int,
    uid: int,
    zygote: Sighting,
    own: tuple[str, ...] = OF_A_CALL,
) -> None:
    """Refuse a spare that is not confined before it gets a request; `own` namespaces it shares with no other call."""
    problems = _common(seen, warden=warden, uid=uid, filters=baseline.filters + 2)
    if len(seen.status.pids) != baseline.depth + 2 or seen.status.pids[-1] != 1:
        problems.append(f"its pids are {seen.status.pids}")
    problems += _shared(seen, other=baseline.namespaces, kinds=_OF_A_JAIL)
    problems += _shared(seen, other=zygote.namespaces, kinds=own)
    _refuse(problems, who="a spare")


def judge_inside(
    measured: Mapping[str, Any],
    *,
    environment: Mapping[str, str],
    granted: frozenset[str] = frozenset(),
    clients: tuple[str, ...] = (),
) -> None:
    """Refuse unless everything that a jail must refuse was refused; `granted` are the places that may be written."""
    tries = measured["tries"]
    possible = {name for client in clients for name in _MADE_POSSIBLE.get(client, ())}
    problems = [
        f"`{one.name}` ({one.mechanism}): {tries.get(one.name)}"
        for one in tries_with(clients)
        if one.name not in possible
        and tries.get(one.name) not in [errno.errorcode[number] for number in one.refused_with]
    ]
    expected: dict[str, object] = {
        "pid": 1,
        "uid": INNER_ID,
        "processes": [1],
        "descriptors": _CHANNELS,
        "environment": sorted(environment),
        "hostname": "jail",
    }
    problems += [f"`{name}` is {measured.get(name)}" for name, value in expected.items() if measured.get(name) != value]
    writable = (
        set(measured["writable"])
        - {SCRATCH, "/proc", *granted}
        - {path for path in measured["writable"] if path.startswith("/dev/")}
    )
    if writable:
        problems.append(f"writable: {sorted(writable)}")
    _refuse(problems, who="the jail, measured from inside,")


def inside_digest(measured: Mapping[str, Any]) -> str:
    return fingerprint(dict(measured))


def _common(seen: Sighting, *, warden: int, uid: int, filters: int) -> list[str]:
    status = seen.status
    held = status.effective | status.permitted | status.inheritable | status.ambient
    wanted = {
        "parent": (status.parent, warden),
        "seccomp mode": (status.seccomp_mode, _FILTER_MODE),
        "seccomp filters": (status.seccomp_filters, filters),
        "no_new_privs": (status.no_new_privileges, 1),
        "capabilities": (held, 0),
        "uids": (status.uids, (uid,) * 4),
        "threads": (status.threads, 1),
        "uid map": (seen.uid_map, f"{INNER_ID} {uid} 1"),
    }
    return [f"{name}: {found}, not {want}" for name, (found, want) in wanted.items() if found != want]


def _shared(seen: Sighting, *, other: Mapping[str, str], kinds: tuple[str, ...]) -> list[str]:
    if os.geteuid() != 0:
        # The kernel shows them to an ordinary user only of a process that did not hide.
        return ["it is not hidden from others of its uid"] if seen.namespaces else []
    return [f"it shares the {kind} namespace" for kind in kinds if seen.namespaces[kind] == other[kind]]


def _refuse(problems: list[str], *, who: str) -> None:
    if problems:
        raise CallRefused(f"{who} is not confined: {'; '.join(problems[:5])}", code="posture_insufficient")
