"""What the kernel was seen to enforce without namespaces: from outside at every process, from inside before the import.

Takes: pids and a measuring child's answers.  Gives: a refusal, or nothing.  Never: concludes from what a process says
about itself after tool code ran in it.

The kernel shows nobody whether a process is under Landlock: that is measured from inside alone.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from typing import Any, Literal

from ringfence.errors import CallRefused
from ringfence.inside.layout import Layout
from ringfence.inside.measure_confined import tries_for
from ringfence.sandbox.posture import Baseline, Sighting

_FILTER_MODE = 2
_CHANNELS = [0, 1, 2, 3]
_MOST_PROBLEMS = 5


def check_zygote(seen: Sighting, *, baseline: Baseline, warden: int, uid: int) -> None:
    """Refuse a zygote that is not confined before it imports anything."""
    _refuse(_problems(seen, baseline=baseline, warden=warden, uid=uid, added=1), who="a confined zygote")


def check_spare(
    seen: Sighting,
    *,
    baseline: Baseline,
    warden: int,
    uid: int,
    zygote: Sighting,
    shown: Literal["hidden", "dumpable"] = "hidden",
) -> None:
    """Refuse a spare that is not confined before it gets a request."""
    problems = _problems(seen, baseline=baseline, warden=warden, uid=uid, added=2, shown=shown)
    if seen.pid == zygote.pid:
        problems.append("it is the process that imported the tool")
    _refuse(problems, who="a confined spare")


def judge_inside(measured: Mapping[str, Any], *, layout: Layout, uid: int, gid: int) -> None:
    """Refuse unless everything that such a jail must refuse was refused."""
    tries = measured["tries"]
    problems = [
        f"`{one.name}` ({one.mechanism}): {tries.get(one.name)}"
        for one in tries_for(layout.landlock_version, layout.granted, layout.clients)
        if tries.get(one.name) not in [errno.errorcode[number] for number in one.refused_with]
    ]
    expected: dict[str, object] = {
        "uids": sorted({uid, gid}),
        "descriptors": _CHANNELS,
        "environment": sorted(name for name, _ in layout.environment),
        "landlock": layout.landlock_version,
    }
    problems += [f"`{name}` is {measured.get(name)}" for name, value in expected.items() if measured.get(name) != value]
    if os.geteuid() == 0 and measured.get("groups"):
        problems.append(f"`groups` is {measured.get('groups')}")
    _refuse(problems, who="the confined jail, measured from inside,")


def _problems(
    seen: Sighting,
    *,
    baseline: Baseline,
    warden: int,
    uid: int,
    added: int,
    shown: Literal["hidden", "dumpable"] = "hidden",
) -> list[str]:
    status = seen.status
    held = status.effective | status.permitted | status.inheritable | status.ambient
    wanted = {
        "parent": (status.parent, warden),
        "seccomp mode": (status.seccomp_mode, _FILTER_MODE),
        "seccomp filters": (status.seccomp_filters, baseline.filters + added),
        "no_new_privs": (status.no_new_privileges, 1),
        "capabilities": (held, 0),
        "uids": (status.uids, (uid,) * 4),
        "threads": (status.threads, 1),
        "depth of pids": (len(status.pids), baseline.depth),
    }
    problems = [f"{name}: {found}, not {want}" for name, (found, want) in wanted.items() if found != want]
    if os.geteuid() != 0 and seen.namespaces and shown == "hidden":
        # The kernel shows them to an ordinary user only of a process that did not hide.
        problems.append("it is not hidden from others of its uid")
    return problems


def _refuse(problems: list[str], *, who: str) -> None:
    if problems:
        listed = "; ".join(problems[:_MOST_PROBLEMS])
        raise CallRefused(f"{who} is not confined: {listed}", code="posture_insufficient")
