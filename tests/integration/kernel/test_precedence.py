"""A process that is to interrupt nobody waits for its turn, and does not run in real time."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from ringfence.kernel.precedence import interrupt_nobody

pytestmark = pytest.mark.req("SBX-9")
IN_REAL_TIME = {"round robin": os.SCHED_RR, "first in, first out": os.SCHED_FIFO}
TRY = """
import os, sys
from ringfence.kernel.precedence import interrupt_nobody
policy, priority = map(int, sys.argv[1:])
os.sched_setscheduler(0, policy, os.sched_param(priority))
print(interrupt_nobody(), os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0))
"""


def after(policy: int, *, priority: int = 0) -> list[str]:
    """What a process of this kind says once it has asked to wait: whether it may, its kind then, and how nice it is."""
    ran = subprocess.run(
        [sys.executable, "-c", TRY, str(policy), str(priority)], capture_output=True, text=True, check=True, timeout=60
    )
    return ran.stdout.split()


def nice() -> str:
    return str(os.getpriority(os.PRIO_PROCESS, 0))


def test_a_usual_process_waits_for_its_turn_and_keeps_its_share() -> None:
    assert after(os.SCHED_OTHER) == ["True", str(os.SCHED_BATCH), nice()]


def test_one_that_runs_only_when_nobody_else_does_goes_on_so() -> None:
    assert after(os.SCHED_IDLE) == ["False", str(os.SCHED_IDLE), nice()]


@pytest.mark.parametrize("policy", IN_REAL_TIME.values(), ids=IN_REAL_TIME.keys())
def test_one_that_runs_in_real_time_does_no_more(policy: int) -> None:
    if os.geteuid() != 0:
        with pytest.raises(PermissionError):
            os.sched_setscheduler(0, policy, os.sched_param(1))
        return
    assert after(policy, priority=1)[:2] == ["True", str(os.SCHED_BATCH)]


def test_where_the_kernel_refuses_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    assert not interrupt_nobody()
