"""A PostgreSQL that stops, comes back or is cut off: nothing runs without its trail, and all goes on by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ringfence.assembly.assemble import utc_now
from ringfence.execution.sandbox import Job, RawOutput
from ringfence.runtime import Failed
from ringfence.runtime.invocation import Status
from tests.acceptance.spine.household import Clock, assert_completed, assert_refused, config, open_house, scripted
from tests.cluster import Cluster, running_cluster

pytestmark = pytest.mark.req("AUD-3", "SCL-1", "IDM-3")
PUT = ("draft", {"title": "x"})


@pytest.fixture
def server() -> Generator[Cluster, None, None]:
    """A server of this test's own, to be stopped at will."""
    with running_cluster() as cluster:
        yield cluster


def on(server: Cluster, folder: Path) -> dict[str, Any]:
    return config(folder, store={"url": server.url("furnished", user="person")})


async def test_while_the_server_is_down_nothing_runs_and_then_all_goes_on(server: Cluster, tmp_path: Path) -> None:
    async with open_house(on(server, tmp_path), clock=Clock(at=utc_now())) as house:
        assert_completed(await house.call("echo", {"text": "x"}))
        server.stop(mode="immediate")
        for tool, arguments in (("echo", {"text": "x"}), PUT):
            assert_refused(await house.call(tool, arguments), "trail_unavailable")
        assert house.ran == ["echo"]
        server.start()
        assert_completed(await house.call("echo", {"text": "x"}))
        assert_completed(await house.call(*PUT))
        assert house.ran == ["echo", "echo", "draft"]
        assert (await house.runtime.audit.verify()).ok


async def test_a_server_that_goes_while_a_tool_runs_withholds_its_output_and_the_call_is_in_doubt(
    server: Cluster, tmp_path: Path
) -> None:
    jail, clock = scripted(), Clock(at=utc_now())
    run = jail.run

    async def cut(job: Job) -> RawOutput:
        await asyncio.to_thread(server.stop, mode="immediate")
        return await run(job)

    jail.run = cut  # type: ignore[method-assign]
    async with open_house(on(server, tmp_path), clock=clock, sandbox=jail) as house:
        outcome = await house.session().call(*PUT, idempotency_key="k")
        assert isinstance(outcome, Failed)
        assert outcome.code == "in_doubt"
        server.start()
    clock.forward(timedelta(minutes=1))
    async with open_house(on(server, tmp_path), clock=clock) as later:
        (call,) = await later.runtime.calls.list()
        assert call.status is Status.IN_DOUBT
        assert_refused(await later.session().call(*PUT, idempotency_key="k"), "in_doubt")
        assert (await later.runtime.audit.verify()).ok


async def test_connections_that_are_cut_off_are_made_anew(server: Cluster, tmp_path: Path) -> None:
    async with open_house(on(server, tmp_path), clock=Clock(at=utc_now())) as house:
        for _ in range(3):
            assert_completed(await house.call("echo", {"text": "x"}))
            server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'person'")
        assert_completed(await house.call("echo", {"text": "x"}))
        assert (await house.runtime.audit.verify()).ok


@pytest.mark.req("AUD-1")
async def test_whoever_follows_is_woken_by_another_process(server: Cluster, tmp_path: Path) -> None:
    clock = Clock(at=utc_now())
    async with (
        open_house(on(server, tmp_path), clock=clock) as one,
        open_house(on(server, tmp_path), clock=clock) as two,
    ):
        waiting = asyncio.create_task(two.runtime._parts.store.news(at_most=250))  # pyright: ignore[reportPrivateUsage]
        # Who listens may not have begun to when the first bell rings.
        for _ in range(100):
            assert_completed(await one.call("echo", {"text": "x"}))
            if (await asyncio.wait([waiting], timeout=0.2))[0]:
                break
        assert waiting.done()
        followed = two.runtime.audit.follow(last=1)
        assert (await anext(followed))["kind"] == "tool_completed"
        await followed.aclose()  # type: ignore[attr-defined]
