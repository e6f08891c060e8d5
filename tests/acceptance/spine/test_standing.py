"""Standing grants through the whole runtime: what they spare, and everything that they do not."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ringfence.approvals.standing import StandingGrant
from ringfence.assembly import open_runtime
from ringfence.errors import Misuse, OperatorRequired
from ringfence.runtime import Waiting, blocking
from tests.acceptance.spine import toolbox
from tests.acceptance.spine.household import (
    PEOPLE,
    House,
    assert_completed,
    assert_refused,
    assert_waiting,
    config,
    open_house,
    rule,
    rules,
    scripted,
)

pytestmark = pytest.mark.req("APR-8")

TWO_OPERATORS: dict[str, Any] = {**PEOPLE, "olga": {"roles": ["operator"]}}
PAY = ("pay", {"to": "shop", "amount": 5})


async def give(house: House, tool: str = "pay", **changes: Any) -> StandingGrant:
    given: dict[str, Any] = {
        "agent": "ana", "tool": tool, "uses": 2, "lasting": timedelta(hours=1), "by": "bob", "because": "month end",
    }  # fmt: skip
    return await house.runtime.grants.give(**{**given, **changes})


async def test_a_granted_call_runs_without_a_vote_and_each_use_is_on_record(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        grant = await give(house)
        outcome = assert_completed(await house.call(*PAY))
        (used,) = await house.events("grant_used")
        (started,) = await house.events("tool_started")
        (now,) = await house.runtime.grants.list()
        assert (await house.runtime.audit.verify()).ok
    assert used["invocation_id"] == outcome.invocation_id
    assert used["body"] == {
        "grant_id": grant.id,
        "digest": grant.digest,
        "signed_by": ["bob"],
        "answers": ["class_floor"],
    }
    assert (used["tool"], used["safety"]) == ("pay", "financial")
    assert started["body"]["warrant"]["basis"] == "standing"
    assert started["body"]["warrant"]["grants"] == [grant.id]
    assert (now.uses, now.digest) == (1, grant.digest)


async def test_it_is_used_as_often_as_it_says_and_then_a_person_is_asked(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        await give(house, uses=2)
        for _ in range(2):
            assert_completed(await house.call(*PAY))
        assert_waiting(await house.call(*PAY))
        assert house.ran == ["pay", "pay"]


async def test_it_ends_when_its_time_is_over(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        await give(house, lasting=timedelta(hours=1))
        house.clock.forward(timedelta(hours=1))
        assert_waiting(await house.call(*PAY))


async def test_it_ends_when_an_operator_revokes_it(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        grant = await give(house)
        ended = await house.runtime.grants.revoke(grant.id, by="bob", because="over")
        assert_waiting(await house.call(*PAY))
        with pytest.raises(Misuse):
            await house.runtime.grants.revoke(grant.id, by="bob", because="again")
        (revoked,) = await house.events("grant_revoked")
    assert ended.ended is not None
    assert (ended.ended.by, ended.ended.why) == ("bob", "over")
    assert revoked["body"]["grant_id"] == grant.id


@pytest.mark.parametrize(
    "arguments",
    [{"to": "shop", "amount": 51}, {"to": "eve", "amount": 5}],
)
async def test_a_call_outside_its_conditions_is_asked_about(tmp_path: Path, arguments: dict[str, Any]) -> None:
    async with open_house(config(tmp_path)) as house:
        await give(house, when={"args.amount": {"lte": 50}, "args.to": {"in": ["shop"]}})
        assert_waiting(await house.call("pay", arguments))
        assert_completed(await house.call("pay", {"to": "shop", "amount": 50}))


async def test_leaving_an_argument_out_does_not_fit_a_condition_on_it(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        await give(house, "publish", when={"args.weight": {"lte": 1}})
        assert_waiting(await house.call("publish", {"text": "x"}))
        assert_completed(await house.call("publish", {"text": "x", "weight": 1}))


async def test_another_agent_or_tool_does_not_use_it(tmp_path: Path) -> None:
    settings = config(tmp_path)
    settings["agents"]["ben"] = settings["agents"]["ana"]
    async with open_house(settings) as house:
        await give(house)
        assert_waiting(await house.call(*PAY, agent="ben"))
        assert_waiting(await house.call("publish", {"text": "x"}))


async def test_a_rule_is_answered_only_where_the_grant_names_it_and_an_edited_rule_is_another(tmp_path: Path) -> None:
    line = {"id": "looked-at", **rule("approve", tool="note")}
    async with open_house(config(tmp_path, policy=rules(line))) as house:
        await give(house, "note")
        assert_waiting(await house.call("note", {"text": "x"}))
        await give(house, "note", answers=["looked-at"])
        assert_completed(await house.call("note", {"text": "x"}))
    line["because"] = "another wording"
    async with open_house(config(tmp_path, policy=rules(line))) as house:
        assert_waiting(await house.call("note", {"text": "x"}))


async def test_a_denial_stands_whatever_was_granted(tmp_path: Path) -> None:
    line = {"id": "never", **rule("deny", tool="pay")}
    async with open_house(config(tmp_path, people=TWO_OPERATORS, policy=rules(line))) as house:
        grant = await give(house, answers=["never"])
        await house.runtime.grants.sign(grant.id, by="olga")
        assert_refused(await house.call(*PAY), "policy_denied")
        assert house.ran == []


async def test_what_needs_two_votes_needs_the_signatures_of_two_operators(tmp_path: Path) -> None:
    async with open_house(config(tmp_path, people=TWO_OPERATORS)) as house:
        grant = await give(house, "grant_access")
        assert assert_waiting(await house.call("grant_access", {"person": "x"})).votes_needed == 2
        with pytest.raises(Misuse):
            await house.runtime.grants.sign(grant.id, by="bob")
        with pytest.raises(Misuse):
            await house.runtime.grants.sign(grant.id, by="olga", digest="sha256:other")
        signed = await house.runtime.grants.sign(grant.id, by="olga")
        assert signed.signed_by == ("bob", "olga")
        assert_completed(await house.call("grant_access", {"person": "x"}))


async def test_a_grant_by_a_proposer_of_the_call_counts_for_nothing(tmp_path: Path) -> None:
    async with open_house(config(tmp_path, agent={"owner": "bob"})) as house:
        await give(house)
        assert_waiting(await house.call(*PAY))
    async with open_house(config(tmp_path)) as house:
        assert_waiting(await house.call(*PAY, user="bob"))
        assert_completed(await house.call(*PAY))


async def test_a_grant_by_somebody_who_is_no_longer_an_operator_counts_for_nothing(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        await give(house)
    dismissed = {**PEOPLE, "bob": {"roles": ["viewer"]}}
    async with open_house(config(tmp_path, people=dismissed)) as house:
        assert_waiting(await house.call(*PAY))


@pytest.mark.parametrize("person", ["alice", "carol", "nobody", "ana"])
async def test_only_an_operator_gives_signs_and_revokes_and_attempts_are_on_record(tmp_path: Path, person: str) -> None:
    async with open_house(config(tmp_path)) as house:
        grant = await give(house)
        for attempt in (
            give(house, by=person),
            house.runtime.grants.sign(grant.id, by=person),
            house.runtime.grants.revoke(grant.id, by=person, because="x"),
        ):
            with pytest.raises(OperatorRequired):
                await attempt
        noticed = [each["body"]["detail"] for each in await house.events("security_event")]
    wanted = ("grant_given", "grant_signed", "grant_revoked")
    assert noticed == [{"wanted": each, "by": person} for each in wanted]


async def test_a_person_who_rejected_the_call_is_not_overruled_by_a_grant(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        session = house.session()
        asked = await session.call(*PAY)
        await house.vote(asked, "alice", "reject", "no")
        await give(house)
        assert_refused(await session.call(*PAY), "approval_rejected")
        assert_completed(await house.call(*PAY))


async def test_a_call_that_already_waits_goes_on_waiting_for_its_votes(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        session = house.session()
        asked = assert_waiting(await session.call(*PAY))
        await give(house)
        assert assert_waiting(await session.call(*PAY)) == asked
        await house.vote(asked, "alice")
        assert_completed(await session.call(*PAY))
        (grant,) = await house.runtime.grants.list()
    assert grant.uses == 0


async def test_a_grant_that_spares_one_of_two_votes_is_used_when_the_call_runs_by_the_other(tmp_path: Path) -> None:
    line = rule("approve", tool="grant_access")
    async with open_house(config(tmp_path, people=TWO_OPERATORS, policy=rules(line))) as house:
        grant = await give(house, "grant_access")
        await house.runtime.grants.sign(grant.id, by="olga")
        session = house.session()
        asked = assert_waiting(await session.call("grant_access", {"person": "x"}))
        assert asked.votes_needed == 1
        (approval,) = await house.runtime.approvals.list()
        assert [each.get("answered_by") for each in approval.card["reasons"]] == [grant.id, None, None]
        await house.vote(asked, "alice")
        assert_completed(await session.resume(asked.invocation_id))
        (used,) = await house.runtime.grants.list()
    assert used.uses == 1


async def test_votes_for_a_call_are_void_once_the_grant_on_its_card_is_gone(tmp_path: Path) -> None:
    line = rule("approve", tool="grant_access")
    async with open_house(config(tmp_path, people=TWO_OPERATORS, policy=rules(line))) as house:
        grant = await give(house, "grant_access")
        await house.runtime.grants.sign(grant.id, by="olga")
        session = house.session()
        asked = assert_waiting(await session.call("grant_access", {"person": "x"}))
        await house.vote(asked, "alice")
        await house.runtime.grants.revoke(grant.id, by="bob", because="over")
        assert_refused(await session.resume(asked.invocation_id), "approval_void")
        assert house.ran == []


async def test_changed_code_ends_a_grant_for_good(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        await give(house)
    with closing(sqlite3.connect(tmp_path / "state/ringfence.db", isolation_level=None)) as connection:
        connection.execute("UPDATE pins SET source_digest = 'sha256:before' WHERE tool = 'pay'")
    async with open_house(config(tmp_path)) as house:
        assert_waiting(await house.call(*PAY))
        (grant,) = await house.runtime.grants.list()
    assert grant.ended is not None
    assert (grant.ended.by, grant.ended.why) == (None, "code_changed")


@pytest.mark.req("DB-2")
async def test_egress_write_runs_by_a_grant_and_the_database_holds_it(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        assert_waiting(await house.call("post_lead", {"name": "x"}))
        await give(house, "post_lead")
        outcome = assert_completed(await house.call("post_lead", {"name": "x"}))
    with closing(sqlite3.connect(tmp_path / "state/ringfence.db")) as connection:
        rows = connection.execute("SELECT invocation_id FROM standing_uses").fetchall()
    assert rows == [(outcome.invocation_id,)]


async def test_explain_shows_which_reason_is_answered_and_spends_nothing(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        grant = await give(house, uses=1)
        explained = (await house.runtime.explain("ana", *PAY)).as_dict()
        assert_completed(await house.call(*PAY))
    assert explained["decision"] == "allow"
    assert {each["kind"]: each.get("answered_by") for each in explained["reasons"]}["class_floor"] == grant.id


async def test_a_grant_names_a_registered_tool_a_known_agent_and_known_reasons(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        changes: tuple[dict[str, Any], ...] = (
            {"tool": "no_such"},
            {"agent": "nobody"},
            {"answers": ["nothing"]},
            {"answers": ["rule"]},
            {"because": " "},
            {"uses": 0},
        )
        for change in changes:
            with pytest.raises(Misuse):
                await give(house, **change)
        assert await house.runtime.grants.list() == []


async def test_calls_side_by_side_never_use_more_than_was_granted(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        await give(house, uses=2)
        outcomes = await house.session().call_many([("pay", {"to": "shop", "amount": n}) for n in range(1, 7)])
        (grant,) = await house.runtime.grants.list()
    assert house.ran == ["pay", "pay"]
    assert grant.uses == 2
    assert all(isinstance(each, Waiting) or each.status in ("completed", "refused") for each in outcomes)


@pytest.mark.req("OPS-8")
def test_a_program_without_a_loop_gives_signs_revokes_and_freezes_too(tmp_path: Path) -> None:
    opening = open_runtime(config(tmp_path, people=TWO_OPERATORS), tools=toolbox.ALL, dangerously_sandbox=scripted())
    with blocking(opening) as runtime:
        grant = runtime.grants.give(
            agent="ana", tool="pay", uses=1, lasting=timedelta(hours=1), by="bob", because="month end"
        )
        assert runtime.grants.sign(grant.id, by="olga").signed_by == ("bob", "olga")
        runtime.freezes.freeze(by="bob", agent="ana")
        session = runtime.session(agent="ana", user="ulla")
        assert_refused(session.call(*PAY), "frozen")
        assert [str(each.scope) for each in runtime.freezes.list()] == ["agent `ana`"]
        runtime.freezes.unfreeze(by="bob", agent="ana")
        assert_completed(session.call(*PAY))
        runtime.grants.revoke(grant.id, by="bob", because="over")
        assert [each.uses for each in runtime.grants.list()] == [1]
