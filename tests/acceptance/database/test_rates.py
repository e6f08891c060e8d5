"""Calls are counted together by all processes, and a binding's limits only add to its agent's."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from ringfence.assembly.assemble import utc_now
from ringfence.errors import ConfigInvalid
from ringfence.policy.quotas import REFUSALS
from tests.acceptance.database.conftest import MakeConfig, settings
from tests.acceptance.spine.household import (
    Clock,
    accounts,
    assert_completed,
    assert_refused,
    bound,
    open_house,
)

__all__ = ["settings"]  # also where the folder's conftest is not read

ECHO = ("echo", {"text": "x"})


def limited(settings: MakeConfig, *, clock: Clock | None = None, **changes: Any) -> Any:
    return open_house(settings(**changes), clock=clock or Clock(at=utc_now()))


@pytest.mark.req("POL-4")
async def test_a_bucket_runs_dry_and_fills_with_time(settings: MakeConfig) -> None:
    async with limited(settings, agent={"tool_rate_limits": {"ec*": "3/hour"}}) as one:
        for _ in range(3):
            assert_completed(await one.call(*ECHO))
        dry = assert_refused(await one.call(*ECHO), "rate_limited")
        assert "wait 1200 seconds" in dry.message
        one.clock.forward(timedelta(minutes=20))
        assert_completed(await one.call(*ECHO))
        assert_refused(await one.call(*ECHO), "rate_limited")
        assert_completed(await one.call("look_up", {"name": "x"}))
        assert one.ran == ["echo"] * 4 + ["look_up"]


@pytest.mark.req("POL-4", "SCL-1")
async def test_processes_draw_on_one_bucket(settings: MakeConfig) -> None:
    clock, change = Clock(at=utc_now()), {"tool_rate_limits": {"echo": "4/hour"}}
    async with limited(settings, clock=clock, agent=change) as one, limited(settings, clock=clock, agent=change) as two:
        outcomes = [await house.call(*ECHO) for house in (one, two) * 4]
    assert [outcome.status for outcome in outcomes].count("completed") == 4


@pytest.mark.req("POL-4")
async def test_every_pattern_that_matches_counts(settings: MakeConfig) -> None:
    change = {"tool_rate_limits": {"*": "2/hour", "echo": "100/hour"}}
    async with limited(settings, agent=change) as one:
        for _ in range(2):
            assert_completed(await one.call(*ECHO))
        assert_refused(await one.call(*ECHO), "rate_limited")


@pytest.mark.req("POL-4")
async def test_a_binding_adds_to_the_agents_limits_and_never_loosens_them(settings: MakeConfig) -> None:
    agent = {
        "tool_rate_limits": {"echo": "3/hour"},
        "bindings": [
            *bound("web:loose", tool_rate_limits={"echo": "100/hour"})["bindings"],
            *bound("web:silent")["bindings"],
            *bound("web:tight", tool_rate_limits={"echo": "1/hour"})["bindings"],
        ],
    }
    names = ("web:loose", "web:silent", "web:tight")
    async with limited(settings, agent=agent, accounts=accounts(*names)) as one:
        assert_completed(await one.call(*ECHO, binding="web:tight"))
        assert_refused(await one.call(*ECHO, binding="web:tight"), "rate_limited")
        assert_completed(await one.call(*ECHO, binding="web:loose"))
        assert_completed(await one.call(*ECHO, binding="web:silent"))
        for name in names:
            assert_refused(await one.call(*ECHO, binding=name), "rate_limited")


@pytest.mark.req("POL-4")
async def test_a_call_that_does_not_start_draws_nothing(settings: MakeConfig) -> None:
    async with limited(settings, agent={"tool_rate_limits": {"*": "1/hour"}}) as one:
        await one.runtime.freezes.freeze(by="bob")
        assert_refused(await one.call(*ECHO), "frozen")
        await one.runtime.freezes.unfreeze(by="bob")
        assert_completed(await one.call(*ECHO))


@pytest.mark.req("POL-4")
async def test_a_session_that_is_refused_too_often_rests_for_a_minute_and_others_do_not(settings: MakeConfig) -> None:
    async with limited(settings) as one:
        tired = one.session()
        for _ in range(REFUSALS.count + 1):
            assert_refused(await tired.call("nothing", {}), "tool_not_found")
        assert_refused(await tired.call(*ECHO), "rate_limited")
        assert_completed(await one.call(*ECHO))
        one.clock.forward(timedelta(seconds=61))
        assert_completed(await tired.call(*ECHO))


@pytest.mark.req("POL-4", "VIEW-1")
@pytest.mark.parametrize("rate", ["0/hour", "5", "5/week", "-1/day", "1.5/hour", 5, None])
async def test_a_rate_that_is_none_is_an_error_of_the_file(settings: MakeConfig, rate: Any) -> None:
    with pytest.raises(ConfigInvalid, match="tool_rate_limits"):
        async with limited(settings, agent={"tool_rate_limits": {"echo": rate}}):
            pass
