"""Each limit holds, and each has its own code."""

from __future__ import annotations

import asyncio

import pytest
import pytest_asyncio

from ringfence.contract.limits import Limits
from tests.integration.sandbox.driver import Yard

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.req("SBX-3")]

SMALL = Limits(wall_seconds=20, cpu_seconds=1, memory_mb=96, pids=16, disk_mb=4, output_kb=64)


@pytest_asyncio.fixture(autouse=True, scope="module", loop_scope="module")
async def _tools(yard: Yard) -> None:
    await yard.load("greedy")


@pytest.mark.parametrize(
    ("tool", "code"),
    [
        ("spin", "cpu_limit"),
        ("spin_stubbornly", "cpu_limit"),
        ("swallow_memory", "memory_limit"),
        ("fill_the_disk", "disk_limit"),
        ("fill_with_many", "disk_limit"),
        ("start_threads", "pids_limit"),
        ("print_for_ever", "output_limit"),
    ],
)
async def test_going_over_a_limit_ends_the_call_with_its_code(yard: Yard, tool: str, code: str) -> None:
    assert (await yard.fault(tool, limits=SMALL))[0] == code


async def test_a_tool_that_never_returns_is_ended_by_the_clock(yard: Yard) -> None:
    code, _ = await yard.fault("sleep", limits=Limits(wall_seconds=0.2))
    assert code == "wall_limit"


@pytest.mark.parametrize(("kilobytes", "fits"), [(63, "fits"), (64, "too much")])
async def test_a_reply_over_the_limit_is_output_limit(yard: Yard, kilobytes: int, fits: str) -> None:
    raw = await yard.run("return_much", {"kilobytes": kilobytes}, limits=SMALL)
    assert (raw.fault.code if raw.fault else "fits") == ("fits" if fits == "fits" else "output_limit")


async def test_what_is_printed_up_to_the_limit_is_kept_and_more_ends_the_call(yard: Yard) -> None:
    kept = await yard.run("print_much", {"kilobytes": 64}, limits=SMALL)
    assert (kept.fault, len(kept.printed)) == (None, 64 * 1024)
    flooded = await yard.run("print_for_ever", limits=SMALL)
    assert len(flooded.printed) == 64 * 1024


async def test_a_large_reply_within_the_limit_arrives_whole(yard: Yard) -> None:
    raw = await yard.run("return_much", {"kilobytes": 1000})
    assert raw.reply is not None
    assert len(raw.reply) == 1000 * 1024 + 2


async def test_open_files_are_bounded(yard: Yard) -> None:
    assert await yard.output("open_files") == 128 - 4


async def test_one_call_s_limits_do_not_touch_its_neighbour(yard: Yard) -> None:
    greedy = asyncio.ensure_future(yard.run("start_threads"))
    assert (await yard.run("return_much", {"kilobytes": 1})).fault is None
    await greedy
