"""Line 115: a jail that cannot be built says so by its code, whatever the kernel answered, and leaves nothing behind.

That no tool runs in such a jail, for every call that builds one, is held in `test_jail_faults.py`. Here the fault is a
filter on one thread of this process: its children inherit it, and what they leave behind can be counted.
"""

from __future__ import annotations

import asyncio
import ctypes
import errno
import os
import struct
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from ringfence.errors import RingfenceError
from ringfence.kernel import cgroups
from ringfence.kernel.syscalls import NUMBERS, call
from tests.attack.lair import open_descriptors, open_lair

pytestmark = pytest.mark.req("SBX-6")

_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_NUMBER_AT, _ARGUMENTS_AT = 0, 16
_ALLOW, _ERRNO = 0x7FFF_0000, 0x0005_0000
_PR_SET_NO_NEW_PRIVS, _NEW_USER = 38, 0x1000_0000

# A system call, the errno, and where only some uses are to fail: which argument, and what it is or has a bit of.
STEPS: dict[str, tuple[str, int, tuple[int, str, int] | None]] = {
    "no user namespaces": ("clone", errno.EPERM, (0, "&", _NEW_USER)),
    "no way to build the root": ("move_mount", errno.EPERM, None),
    "no scratch": ("mount", errno.EPERM, None),
    "no filters": ("seccomp", errno.EINVAL, None),
    "no Landlock in the kernel": ("landlock_create_ruleset", errno.ENOSYS, None),
    "Landlock switched off": ("landlock_create_ruleset", errno.EOPNOTSUPP, None),
    "Landlock refused by a container": ("landlock_create_ruleset", errno.EPERM, None),
    "no restriction": ("landlock_restrict_self", errno.EPERM, None),
}

LEAVES_A_TRACE = '''
try:
    open("{marker}", "w").close()
except OSError:
    print("confined")

@tool(safety="read")
def leave_a_trace() -> str:
    """Write a file of the host, which only an unconfined tool can do."""
    try:
        open("{marker}", "w").close()
    except OSError:
        return "confined"
    return "free"
'''


def _program(name: str, only: tuple[int, str, int] | None, *, number: int) -> bytes:
    """A filter that fails one system call with this errno and lets everything else pass."""
    fail, passed = (_RETURN, 0, 0, _ERRNO | number), (_RETURN, 0, 0, _ALLOW)
    start = (_LOAD, 0, 0, _NUMBER_AT)
    if only is None:
        steps = [start, (_EQUAL, 0, 1, NUMBERS[name]), fail, passed]
    else:
        argument, how, value = only
        look = (_LOAD, 0, 0, _ARGUMENTS_AT + 8 * argument)
        test = (_EQUAL if how == "=" else _ANY_BIT, 0, 1, value)
        steps = [start, (_EQUAL, 0, 3, NUMBERS[name]), look, test, fail, passed]
    return b"".join(struct.pack("HBBI", *step) for step in steps)


def _in_a_thread_with(program: bytes, work: Coroutine[Any, Any, Any]) -> Any:
    """Run the coroutine in a thread that alone, with its children, is under the filter."""
    answer: list[Any] = []

    def run() -> None:
        steps = ctypes.create_string_buffer(program, len(program))
        call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        call("seccomp", 1, 0, struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(steps)))
        try:
            answer.append(asyncio.run(work))
        except Exception as failure:
            answer.append(failure)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return answer[0]


async def _called(folder: Path) -> tuple[str, str | None]:
    """The outcome of one call, if the runtime opens at all."""
    async with open_lair(folder, {"tracer": LEAVES_A_TRACE.format(marker=folder / "trace")}) as lair:
        outcome = await lair.call("leave_a_trace")
        return outcome.status, getattr(outcome, "code", getattr(outcome, "output", None))


@pytest.mark.req("SBX-9")
@pytest.mark.parametrize("step", STEPS)
def test_line_115_a_jail_that_cannot_be_built_says_so_and_leaves_nothing(step: str, tmp_path: Path) -> None:
    name, number, only = STEPS[step]
    before = open_descriptors()
    answer = _in_a_thread_with(_program(name, only, number=number), _called(tmp_path))
    assert not (tmp_path / "trace").exists()
    assert isinstance(answer, RingfenceError), answer
    assert answer.code == "posture_insufficient", answer.message
    assert _groups_of_this_process() == []
    assert _children() == []
    assert open_descriptors() <= before


def _groups_of_this_process() -> list[str]:
    places = cgroups.find().folders.values()
    return [str(group) for place in places for group in place.glob(f"ringfence-{os.getpid()}-*")]


def _children() -> list[str]:
    tasks = Path("/proc/self/task").glob("*/children")
    return [child for task in tasks for child in task.read_text().split()]


def test_a_call_that_no_step_needs_may_fail(tmp_path: Path) -> None:
    program = _program("sched_rr_get_interval", None, number=errno.EPERM)
    assert _in_a_thread_with(program, _called(tmp_path)) == ("completed", "confined")
