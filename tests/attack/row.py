"""One line of the attack table: which hostile tool is run, what stops it, and how it is shown to work unjailed.

Takes: nothing.  Gives: the row's type and the words it may use.  Never: an expectation without a mechanism or a code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Privilege = Literal["root", "user"]
PRIVILEGES: tuple[Privilege, ...] = ("root", "user")

# What can stop a try, and how it shows to the tool.
MECHANISMS: Mapping[str, str] = {
    "mount namespace": "the path has nothing behind it",
    "read-only mounts": "the file is there and cannot be changed",
    "mounts without code": "the file is there and cannot be mapped or run as a program",
    "pid namespace": "there is no such process",
    "user namespace": "the privilege counts only inside, and was dropped",
    "ipc namespace": "there is no such object",
    "network namespace": "there is no way out",
    "proc subset": "the kernel's own settings are not shown",
    "landlock": "the right was given up",
    "seccomp": "the system call is refused before the kernel looks at it",
    "no capabilities": "the kernel asks for a privilege that nobody here has",
    "resource limits": "the kernel counts and stops",
    "control group": "the kernel counts the whole tree and stops it",
    "hidden process": "the files in /proc of a process that cannot be dumped belong to root",
    "closed descriptors": "there is no such descriptor",
    "empty environment": "there is no such variable",
    "fresh scratch": "nothing of another call is there",
    "fresh process": "nothing of another call is in memory",
    "host": "the host decides, and the tool cannot reach it",
    "warden": "the process and all it started are killed when the call ends",
    "kernel": "the kernel refuses it to everybody",
}

_EXPECTATION = re.compile(r"stopped by (?P<mechanism>[a-z -]+?)(?:: (?P<answers>[A-Z0-9 ]+))?")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One try.

    `expected`: `stopped by <mechanism>`, or `stopped by <mechanism>: EPERM ENOENT` where only these answers of the
    kernel may appear in the detail, or the code of a failed call.
    `control`: `probe` (the same function in a plain child with the same privilege), `probe in namespaces` (in a child
    that is root of its own user namespace, for what an ordinary user may do only there), `probe by root` (for what an
    ordinary user may never do), or the name of another function of `controls.py`.
    `pace`: a `long` row waits for a limit; it runs beside the others.
    `times`: how often it is called; the last answer counts, so that a call can look for an earlier one's traces.
    """

    line: int
    module: str
    probe: str
    expected: Mapping[Privilege, str]
    control: Mapping[Privilege, str]
    pace: Literal["quick", "long"] = "quick"
    times: int = 1


def everywhere(text: str) -> Mapping[Privilege, str]:
    """The same for every privilege."""
    return dict.fromkeys(PRIVILEGES, text)


def root_or_user(root: str, user: str) -> Mapping[Privilege, str]:
    return {"root": root, "user": user}


@dataclass(frozen=True, kw_only=True)
class Stop:
    """A parsed expectation: the mechanism, and the only answers it may give; none listed means any."""

    mechanism: str
    answers: frozenset[str]


def read_expectation(text: str) -> Stop | None:
    """The stop that a row expects; None where it expects the code of a failed call."""
    found = _EXPECTATION.fullmatch(text)
    if found is None:
        return None
    return Stop(mechanism=found["mechanism"], answers=frozenset((found["answers"] or "").split()))
