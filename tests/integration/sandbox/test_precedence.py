"""Whatever a host bears for its calls waits for its turn: the host is never interrupted by a tool that is woken."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.integration.sandbox.driver import Yard
from tests.integration.sandbox.family import descendants

pytestmark = pytest.mark.req("SBX-9")
AT_LEAST = ("a fork server", "a warden", "a zygote", "a spare")


def kind_of(pid: int) -> int | None:
    try:
        return os.sched_getscheduler(pid)
    except ProcessLookupError:
        return None


@pytest.mark.asyncio
async def test_no_process_below_a_host_interrupts_it(tmp_path: Path) -> None:
    yard, before = Yard(state=tmp_path), descendants()
    try:
        await yard.load("plain")
        assert await yard.output("add", {"a": 1, "b": 2}) == 3
        kinds = [kind for pid in descendants() - before if (kind := kind_of(pid)) is not None]
    finally:
        await yard.close()
    assert len(kinds) >= len(AT_LEAST)
    assert set(kinds) == {os.SCHED_BATCH}
