"""Caps on what calls spend: taken where a call starts, counted by all processes together, settled where it ends."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from ringfence.assembly.assemble import utc_now
from ringfence.assembly.config import load_config
from ringfence.edge.terms import Bounds
from ringfence.errors import ConfigInvalid
from ringfence.execution.cost import MOST_BYTES
from ringfence.execution.sandbox import Effects, Fault, RawOutput
from ringfence.runtime import Failed
from ringfence.runtime.invocation import Status
from tests.acceptance.database.conftest import MakeConfig, settings
from tests.acceptance.spine.household import (
    Clock,
    House,
    accounts,
    assert_completed,
    assert_refused,
    assert_waiting,
    bound,
    fault,
    open_house,
    scripted,
)

__all__ = ["settings"]

pytestmark = pytest.mark.req("POL-2")
PER_DAY: dict[str, Any] = {"tools": "measure", "most": 10, "per": "day", "amount": "args.value"}


def capped(settings: MakeConfig, *caps: dict[str, Any], clock: Clock | None = None, **changes: Any) -> Any:
    sandbox = changes.pop("sandbox", None)
    agent = {**changes.pop("agent", {}), "spend_caps": list(caps)}
    return open_house(settings(agent=agent, **changes), clock=clock or Clock(at=utc_now()), sandbox=sandbox)


async def spend(house: House, value: float) -> Any:
    return await house.call("measure", {"value": value})


async def test_calls_spend_up_to_the_cap_and_again_when_the_time_has_passed(settings: MakeConfig) -> None:
    async with capped(settings, PER_DAY) as house:
        for value in (4.0, 5.9, 0.1):
            assert_completed(await spend(house, value))
        over = assert_refused(await spend(house, 0.000000001), "spend_cap_reached")
        assert over.message == "`measure` may spend 10 per day, of which 0 are left, and this call may take 0.000000001"
        assert_completed(await spend(house, 0.0))
        house.clock.forward(timedelta(hours=24, seconds=1))
        assert_completed(await spend(house, 10.0))
        assert house.ran == ["measure"] * 5


@pytest.mark.parametrize("value", [-1.0, 1e300, 10.1])
async def test_an_amount_that_is_none_or_too_much_is_denied_before_anything_is_asked(
    settings: MakeConfig, value: float
) -> None:
    async with capped(settings, PER_DAY) as house:
        code = "spend_cap_reached" if value == 10.1 else "policy_denied"
        assert_refused(await spend(house, value), code)
        assert house.ran == []


@pytest.mark.parametrize(
    "text", ["", "-1", "+1", "1e999", "1e1", "NaN", "inf", "1,5", " 1", "0x1", "١", "1" * 17, "1.2.3"]
)
async def test_a_text_counts_only_where_it_is_plain_digits(settings: MakeConfig, text: str) -> None:
    cap = {**PER_DAY, "tools": "echo", "amount": "args.text"}
    async with capped(settings, cap) as house:
        assert_refused(await house.call("echo", {"text": text}), "policy_denied")
        assert_completed(await house.call("echo", {"text": "9.99"}))
        assert_refused(await house.call("echo", {"text": "0.02"}), "spend_cap_reached")
        assert house.ran == ["echo"]


async def test_an_amount_that_is_missing_or_in_another_unit_is_denied(settings: MakeConfig) -> None:
    missing = {**PER_DAY, "amount": "args.amount"}
    async with capped(settings, missing) as house:
        assert_refused(await spend(house, 1.0), "policy_denied")
    unit = {"tools": "pay", "most": 10, "per": "day", "amount": "args.amount", "unit": {"args.to": "EUR"}}
    async with capped(settings, unit) as house:
        said = assert_refused(await house.call("pay", {"to": "USD", "amount": 1}), "policy_denied")
        assert said.message == "`args.to` is not `EUR`, which the cap on `pay` is counted in"
        assert_waiting(await house.call("pay", {"to": "EUR", "amount": 1}))


@pytest.mark.req("SCL-1")
async def test_processes_spend_from_one_cap(settings: MakeConfig) -> None:
    clock = Clock(at=utc_now())
    async with capped(settings, PER_DAY, clock=clock) as one, capped(settings, PER_DAY, clock=clock) as two:
        outcomes = await asyncio.gather(*(spend(house, 1.5) for house in (one, two) * 6))
    assert Counter(outcome.status for outcome in outcomes) == {"completed": 6, "refused": 6}


@pytest.mark.req("APR-3")
async def test_twenty_approvals_under_one_cap_voted_at_once_spend_no_more_than_the_cap(settings: MakeConfig) -> None:
    cap = {"tools": "pay", "most": 500, "per": "day", "amount": "args.amount"}
    async with capped(settings, cap) as house:
        sessions = [house.session() for _ in range(20)]
        asked = [await one.call("pay", {"to": f"shop{n}", "amount": 100}) for n, one in enumerate(sessions)]
        await asyncio.gather(*(house.vote(each, "alice") for each in asked))
        ended = await asyncio.gather(
            *(one.resume(each.invocation_id) for one, each in zip(sessions, asked, strict=True))
        )
        assert Counter(getattr(each, "code", "paid") for each in ended) == {"paid": 5, "spend_cap_reached": 15}
        assert house.ran == ["pay"] * 5


@pytest.mark.req("VIEW-3")
async def test_a_bindings_cap_adds_to_its_agents(settings: MakeConfig) -> None:
    caps = {"spend_caps": [{**PER_DAY, "most": 4}]}
    where = {**bound("whatsapp:sales", **caps), "spend_caps": [PER_DAY]}
    async with open_house(
        settings(agent=where, accounts=accounts("whatsapp:sales")), clock=Clock(at=utc_now())
    ) as house:
        assert_completed(await house.call("measure", {"value": 3.0}, binding="whatsapp:sales"))
        assert_refused(await house.call("measure", {"value": 3.0}, binding="whatsapp:sales"), "spend_cap_reached")
        status = await house.runtime.status("ana", binding="whatsapp:sales")
        assert [(cap.binding, cap.document()["left"]) for cap in status.caps] == [("", "7"), ("whatsapp:sales", "1")]


async def test_what_a_call_spent_stays_spent_however_it_ended(settings: MakeConfig) -> None:
    broken = scripted({"measure": fault("it broke", code="protocol_error")})
    async with capped(settings, PER_DAY, sandbox=broken) as house:
        assert isinstance(await spend(house, 6.0), Failed)
        assert_refused(await spend(house, 6.0), "spend_cap_reached")


async def test_a_call_that_was_refused_spent_nothing(settings: MakeConfig) -> None:
    limits = {"tool_rate_limits": {"measure": "1/hour"}}
    async with capped(settings, PER_DAY, agent=limits) as house:
        assert_completed(await spend(house, 1.0))
        assert_refused(await spend(house, 1.0), "rate_limited")
        (cap,) = (await house.runtime.status("ana")).caps
        assert cap.document()["taken"] == "1"


async def test_a_call_whose_start_was_cancelled_gives_back_what_it_took(settings: MakeConfig) -> None:
    async with capped(settings, PER_DAY) as house:
        store: Any = house.runtime._parts.store  # pyright: ignore[reportPrivateUsage]
        start = store.start

        async def cancelled(*given: Any, **named: Any) -> None:
            await start(*given, **named)
            raise asyncio.CancelledError

        store.start = cancelled
        with pytest.raises(asyncio.CancelledError):
            await spend(house, 7.0)
        (cap,) = (await house.runtime.status("ana")).caps
        assert (cap.taken, house.ran) == (0, [])


def _used(cpu: float, *, bytes_out: int = 0, earlier: tuple[Effects, ...] = ()) -> RawOutput:
    network: dict[str, Any] = {"hosts": [], "bytes_out": bytes_out, "bytes_in": 0}
    return RawOutput(reply=b"1.0", effects=Effects(cpu_seconds=cpu, network=network, earlier=earlier))


@pytest.mark.req("SBX-8", "DB-2")
async def test_what_a_call_costs_is_reserved_whole_and_settled_by_what_was_measured(settings: MakeConfig) -> None:
    cap, prices = {"tools": "*", "most": 11, "per": "day"}, {"call": 0.5, "cpu_second": 2, "gib_out": 8}
    jail = scripted({"measure": _used(0.25, bytes_out=1 << 28)})
    async with capped(settings, cap, sandbox=jail, cost=prices) as house:
        first = assert_completed(await spend(house, 1.0))
        assert first.effects["cost_estimate"] == "3"
        (standing,) = (await house.runtime.status("ana")).caps
        assert (standing.document()["taken"], standing.document()["left"]) == ("3", "8")
        over = assert_refused(await spend(house, 1.0), "spend_cap_reached")
        assert "this call may take 10.5" in over.message
        (told,) = await house.events("tool_completed")
        assert told["body"]["effects"]["cost_estimate"] == "3"


@pytest.mark.req("SBX-8", "IDM-3")
async def test_what_nobody_measured_stays_reserved(settings: MakeConfig) -> None:
    cap, prices = {"tools": "*", "most": 100, "per": "day"}, {"cpu_second": 2}
    async with capped(settings, cap, sandbox=scripted(), cost=prices) as house:

        async def broke(_: Any) -> RawOutput:
            raise RuntimeError("the jail is gone")

        house.sandbox.run = broke
        assert isinstance(await house.call("draft", {"title": "x"}), Failed)
        (call,) = await house.runtime.calls.list(status=Status.IN_DOUBT)
        assert call.invocation.tool == "draft"
        (standing,) = (await house.runtime.status("ana")).caps
        assert standing.document()["taken"] == "10"


@pytest.mark.req("SBX-8")
async def test_every_attempt_costs(settings: MakeConfig) -> None:
    tried = RawOutput(reply=None, fault=Fault(code="tool_error", message="x"), effects=Effects(cpu_seconds=1.0))
    async with capped(settings, sandbox=scripted({"flaky": tried}), cost={"call": 1, "cpu_second": 2}) as house:
        outcome = await house.call("flaky", {"name": "x"})
        assert isinstance(outcome, Failed)
        assert (outcome.effects["cost_estimate"], len(outcome.effects["earlier"])) == ("7", 2)


def test_the_edge_carries_no_more_than_a_call_is_reserved_for() -> None:
    assert (Bounds().bytes_out, Bounds().bytes_in) == (MOST_BYTES, MOST_BYTES)


@pytest.mark.req("POL-1", "VIEW-5")
async def test_what_is_left_is_explained_and_shown(settings: MakeConfig) -> None:
    async with capped(settings, PER_DAY) as house:
        assert_completed(await spend(house, 7.0))
        fits = await house.runtime.explain("ana", "measure", {"value": 3.0})
        assert fits.decision.word == "allow"
        over = await house.runtime.explain("ana", "measure", {"value": 3.5})
        assert (over.decision.word, over.code) == ("deny", "spend_cap_reached")
        assert over.reasons[-1].because == "`measure` may spend 10 per day, 3 are left, and this call may take 3.5"
        assert (await house.runtime.status("ana")).as_dict()["spend_caps"] == [
            {
                "binding": None,
                "tools": "measure",
                "most": "10",
                "per": "day",
                "amount": "args.value",
                "taken": "7",
                "left": "3",
            }
        ]


async def test_another_limit_for_the_same_counts_what_was_spent_before(settings: MakeConfig) -> None:
    clock = Clock(at=utc_now())
    async with capped(settings, PER_DAY, clock=clock) as house:
        assert_completed(await spend(house, 7.0))
    async with capped(settings, {**PER_DAY, "most": 7.5}, clock=clock) as house:
        assert_refused(await spend(house, 1.0), "spend_cap_reached")


@pytest.mark.req("VIEW-1")
@pytest.mark.parametrize(
    "wrong",
    [
        {"most": -1},
        {"most": "ten"},
        {"most": float("inf")},
        {"most": 9_000_000_001},
        {"per": "year"},
        {"amount": "value"},
        {"unit": {"currency": "EUR"}},
        {"extra": 1},
    ],
)
def test_a_cap_that_is_none_is_an_error_at_load(settings: MakeConfig, wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigInvalid):
        load_config(settings(agent={"spend_caps": [{**PER_DAY, **wrong}]}))


def test_prices_are_decimals(settings: MakeConfig) -> None:
    assert load_config(settings(cost={"cpu_second": 0.00002})).prices.cpu_second == Decimal("0.00002")
    with pytest.raises(ConfigInvalid):
        load_config(settings(cost={"cpu_second": -1}))
