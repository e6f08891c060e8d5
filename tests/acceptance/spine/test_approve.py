"""Approvals: a durable request, votes that count for what was shown, one run at most."""

from __future__ import annotations

import asyncio
from datetime import timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from ringfence.errors import Misuse, VoteRefused
from ringfence.runtime import Completed
from tests.acceptance.spine.household import (
    AGENT,
    PEOPLE,
    START,
    Clock,
    accounts,
    assert_completed,
    assert_refused,
    assert_waiting,
    bound,
    config,
    open_house,
    rule,
    rules,
)

PAY = ("pay", {"to": "shop", "amount": 5})


@pytest.mark.req("APR-1", "APR-3")
async def test_a_call_that_needs_a_vote_waits_durably_and_any_process_can_resume_it(tmp_path: Path) -> None:
    clock = Clock()
    async with open_house(config(tmp_path), clock=clock) as house:
        asked = assert_waiting(await house.call(*PAY, id="s1"))
        (event,) = await house.events("tool_invocation_approval_required")
        assert house.ran == []
    assert event["body"]["approval_id"] == asked.approval_id
    async with open_house(config(tmp_path), clock=clock) as house:
        assert assert_waiting(await house.session(id="s1").resume(asked.invocation_id)) == asked
        await house.vote(asked, "alice")
    async with open_house(config(tmp_path), clock=clock) as house:
        ran = assert_completed(await house.session(id="s1").resume(asked.invocation_id))
        kinds = [each["kind"] for each in await house.events() if each["invocation_id"] == asked.invocation_id]
        assert house.ran == ["pay"]
    assert (ran.output, ran.invocation_id) == ("shop", asked.invocation_id)
    assert kinds == [
        "tool_proposed",
        "policy_decision",
        "tool_invocation_approval_required",
        "vote_cast",
        "approval_resolved",
        "tool_started",
        "tool_completed",
    ]


@pytest.mark.req("APR-1")
async def test_a_resumed_call_gives_its_recorded_outcome_ever_after(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        session = house.session()
        asked = await session.call(*PAY)
        await house.vote(asked, "alice")
        first = assert_completed(await session.resume(asked.invocation_id))
        again = assert_completed(await session.resume(asked.invocation_id))
        assert house.ran == ["pay"]
    assert again.as_dict() == first.as_dict()


@pytest.mark.req("APR-1")
async def test_the_same_call_again_does_not_ask_twice_and_picks_up_the_decision(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        session = house.session()
        asked = assert_waiting(await session.call(*PAY))
        assert assert_waiting(await session.call("pay", {"amount": 5.0, "to": "shop"})) == asked
        assert len(await house.runtime.approvals.list()) == 1
        await house.vote(asked, "alice")
        assert assert_completed(await session.call(*PAY)).invocation_id == asked.invocation_id


@pytest.mark.req("APR-1")
@pytest.mark.parametrize("number", [1e17, 9007199254740993.0, 6.02e23, 0.1, -0.0, 1e-9])
async def test_numbers_of_every_size_survive_the_wait(tmp_path: Path, number: float) -> None:
    async with open_house(config(tmp_path)) as house:
        session = house.session()
        asked = await session.call("publish", {"text": "x", "weight": number})
        await house.vote(asked, "alice")
        assert_completed(await session.resume(asked.invocation_id))
        (job,) = house.sandbox.jobs
    assert float(job.arguments.split(b'weight":')[1][:-1]) == number


@pytest.mark.req("APR-2")
async def test_the_card_holds_everything_that_a_vote_is_about(tmp_path: Path) -> None:
    policy = rules(rule("approve", tool="pay", because="money is looked at"))
    settings = config(tmp_path, agent=bound("chat:one"), accounts=accounts("chat:one"), policy=policy)
    async with open_house(settings) as house:
        session = house.session(binding="chat:one")
        asked = assert_waiting(await session.call(*PAY))
        (approval,) = await house.runtime.approvals.list()
    card = approval.card
    assert card["arguments"] == '{"amount":5,"to":"shop"}'
    assert (card["approval_id"], card["invocation_id"]) == (asked.approval_id, asked.invocation_id)
    assert (card["session"], card["user"], card["agent"], card["binding"]) == (session.id, "ulla", "ana", "chat:one")
    assert card["account"] == "chat:one"
    assert (card["tool"], card["safety"], card["egress"], card["posture"]) == ("pay", "financial", "none", "confined")
    assert card["proposers"] == ["carol", "ulla"]
    assert [reason["digest"] is not None for reason in card["reasons"]] == [False, False, True]
    for name in ("fingerprint", "source_digest", "idempotency_key", "grant", "expires_at", "account"):
        assert name in card


@pytest.mark.req("APR-2")
async def test_a_vote_for_something_else_than_what_is_asked_is_refused(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        asked = assert_waiting(await house.call(*PAY))
        with pytest.raises(VoteRefused, match="something else"):
            await house.runtime.approvals.vote(
                asked.approval_id, voter="alice", decision="approve", digest="sha256:" + "0" * 64
            )


CHANGES: dict[str, dict[str, Any]] = {
    "the rule that asked is worded anew": {"policy": rules(rule("approve", tool="pay", because="reworded"))},
    "the rule that asked is gone": {"policy": None},
    "a stricter rule holds": {
        "policy": rules(rule("approve", tool="pay", because="as before"), rule("approve_twice", tool="pay"))
    },
    "the owner is another": {"agents": {"ana": {**AGENT, "owner": "bob"}}},
    "the voter may vote no more": {"people": {**PEOPLE, "alice": {"roles": ["viewer"]}}},
    "the voter is not of the group that votes now": {
        "people": {**PEOPLE, "alice": {"roles": ["approver"]}},
        "approvals": {"routes": {"human": {"group": "treasury"}}},
    },
    "the voter owns the agent now": {"agents": {"ana": {**AGENT, "owner": "alice"}}},
}


@pytest.mark.req("APR-2")
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_what_was_approved_under_other_rules_is_void_and_asked_anew(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    clock, before = Clock(), {"policy": rules(rule("approve", tool="pay", because="as before"))}
    async with open_house(config(tmp_path, **before), clock=clock) as house:
        asked = assert_waiting(await house.call(*PAY, id="s1"))
        await house.vote(asked, "alice")
    async with open_house(config(tmp_path, **{**before, **change}), clock=clock) as house:
        session = house.session(id="s1")
        assert_refused(await session.resume(asked.invocation_id), "approval_void")
        assert_refused(await session.resume(asked.invocation_id), "approval_void")
        assert assert_waiting(await session.call(*PAY)).approval_id != asked.approval_id
        assert house.ran == []
        assert len(await house.events("call_void")) == 1


@pytest.mark.req("APR-2")
async def test_a_changed_grant_voids_what_was_approved(tmp_path: Path) -> None:
    clock, narrow = Clock(), {"files": {"read": ["knowledge"], "write": ["outbox"]}}
    policy = rules(rule("approve", tool="draft"))
    async with open_house(config(tmp_path, agent=narrow, policy=policy), clock=clock) as house:
        asked = assert_waiting(await house.call("draft", {"title": "x"}, id="s1"))
        await house.vote(asked, "alice")
    wider = {"files": {"read": ["knowledge", "private"], "write": ["outbox"]}}
    async with open_house(config(tmp_path, agent=wider, policy=policy), clock=clock) as house:
        assert_refused(await house.session(id="s1").resume(asked.invocation_id), "approval_void")


@pytest.mark.req("APR-2")
async def test_a_rule_that_denies_now_denies_what_was_approved(tmp_path: Path) -> None:
    clock = Clock()
    async with open_house(config(tmp_path), clock=clock) as house:
        asked = assert_waiting(await house.call(*PAY, id="s1"))
        await house.vote(asked, "alice")
    async with open_house(config(tmp_path, policy=rules(rule("deny", tool="pay"))), clock=clock) as house:
        assert_refused(await house.session(id="s1").resume(asked.invocation_id), "policy_denied")
        assert house.ran == []


@pytest.mark.req("APR-2")
async def test_a_policy_edit_that_touches_none_of_the_recorded_reasons_voids_nothing(tmp_path: Path) -> None:
    clock, kept = Clock(), rule("approve", tool="pay", because="as before")
    async with open_house(config(tmp_path, policy=rules(kept)), clock=clock) as house:
        asked = assert_waiting(await house.call(*PAY, id="s1"))
        await house.vote(asked, "alice")
    edited = rules(
        rule("deny", tool="note"), kept, rule("deny", tool="pay", when={"args.amount": {"gt": 1_000}}, because="huge")
    )
    people = {**PEOPLE, "frank": {"roles": ["approver"]}}
    async with open_house(config(tmp_path, policy=edited, people=people), clock=clock) as house:
        assert_completed(await house.session(id="s1").resume(asked.invocation_id))


@pytest.mark.req("APR-3")
async def test_two_who_resume_at_once_run_the_call_once(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        session = house.session()
        asked = await session.call(*PAY)
        await house.vote(asked, "alice")
        outcomes = await asyncio.gather(*(session.resume(asked.invocation_id) for _ in range(8)))
        assert house.ran == ["pay"]
        assert len(await house.events("tool_started")) == 1
    assert sum(isinstance(each, Completed) for each in outcomes) == 1
    assert {each.code for each in outcomes if not isinstance(each, Completed)} <= {"in_flight", "approval_void"}


@pytest.mark.req("APR-3")
async def test_two_runtimes_on_one_store_run_the_call_once(tmp_path: Path) -> None:
    clock, settings = Clock(), config(tmp_path)
    async with open_house(settings, clock=clock) as one, open_house(settings, clock=clock) as other:
        asked = await one.call(*PAY, id="s1")
        await other.vote(asked, "alice")
        await asyncio.gather(
            one.session(id="s1").resume(asked.invocation_id), other.session(id="s1").resume(asked.invocation_id)
        )
        assert one.ran + other.ran == ["pay"]


@pytest.mark.req("APR-3")
async def test_a_call_of_another_session_cannot_be_resumed(tmp_path: Path) -> None:
    agents = {"ana": AGENT, "ben": AGENT}
    async with open_house(config(tmp_path, agents=agents)) as house:
        asked = await house.call(*PAY, id="s1")
        await house.vote(asked, "alice")
        for stranger in (house.session(), house.session(agent="ben")):
            assert_refused(await stranger.resume(asked.invocation_id), "approval_void")
        with pytest.raises(Misuse, match="belongs to another"):
            await house.session(id="s1", user="mallory").resume(asked.invocation_id)
        for nonsense in ("", "inv_", "\ud800", "x" * 10_000, "inv_" + "0" * 24):
            assert_refused(await house.session(id="s1").resume(nonsense), "approval_void")
        assert house.ran == []
        assert_completed(await house.session(id="s1").resume(asked.invocation_id))


@pytest.mark.req("APR-4")
@pytest.mark.parametrize(
    ("who", "voter"), [({}, "carol"), ({"user": "alice"}, "alice"), ({"typed_by": "alice"}, "alice"), ({}, "bob")]
)
async def test_no_proposer_and_nobody_without_the_role_votes(tmp_path: Path, who: dict[str, Any], voter: str) -> None:
    people = {**PEOPLE, "carol": {"roles": ["approver"]}}
    async with open_house(config(tmp_path, people=people)) as house:
        asked = assert_waiting(await house.call(*PAY, **who))
        with pytest.raises(VoteRefused):
            await house.vote(asked, voter)
        (seen,) = await house.events("security_event")
        assert [each.id for each in await house.runtime.approvals.list()] == [asked.approval_id]
    assert (seen["body"]["what"], seen["body"]["detail"]["voter"]) == ("vote_refused", voter)


@pytest.mark.req("APR-4")
@pytest.mark.parametrize("voter", ["ana", "model", "", "ALICE", "alice ", "\x1b[31malice", "nobody"])
async def test_neither_a_model_nor_a_made_up_person_votes(tmp_path: Path, voter: str) -> None:
    async with open_house(config(tmp_path)) as house:
        asked = assert_waiting(await house.call(*PAY))
        with pytest.raises(VoteRefused) as refusal:
            await house.vote(asked, voter)
    assert "\x1b" not in refusal.value.message


@pytest.mark.req("APR-4")
async def test_two_votes_come_from_two_people(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        session = house.session()
        asked = assert_waiting(await session.call("grant_access", {"person": "x"}))
        await house.vote(asked, "alice")
        with pytest.raises(VoteRefused, match="already"):
            await house.vote(asked, "alice")
        assert assert_waiting(await session.resume(asked.invocation_id)) == asked
        await house.vote(asked, "dan")
        with pytest.raises(VoteRefused, match="takes no more votes"):
            await house.vote(asked, "erin")
        assert_completed(await session.resume(asked.invocation_id))


@pytest.mark.req("APR-4")
async def test_an_agent_with_neither_owner_nor_user_cannot_make_a_call_that_needs_two_votes(tmp_path: Path) -> None:
    orphan = {name: value for name, value in AGENT.items() if name != "owner"}
    async with open_house(config(tmp_path, agents={"ana": orphan})) as house:
        assert_refused(await house.call("grant_access", {"person": "x"}, user=None), "no_approvers")
        assert_waiting(await house.call(*PAY, user=None))
        assert_waiting(await house.call("grant_access", {"person": "x"}, user="ulla"))


@pytest.mark.req("APR-4")
@pytest.mark.parametrize(
    ("people", "tool"),
    [
        ({"carol": {"roles": ["viewer"]}}, "pay"),
        ({"carol": {"roles": ["approver"]}}, "pay"),
        ({"carol": {"roles": ["viewer"]}, "alice": {"roles": ["approver"]}}, "grant_access"),
        ({"carol": {"roles": ["approver"]}, "alice": {"roles": ["approver"]}}, "grant_access"),
    ],
)
async def test_a_call_for_which_the_votes_cannot_be_found_is_refused_at_once(
    tmp_path: Path, people: dict[str, Any], tool: str
) -> None:
    arguments = PAY[1] if tool == "pay" else {"person": "x"}
    async with open_house(config(tmp_path, people=people)) as house:
        assert_refused(await house.call(tool, arguments), "no_approvers")
        assert await house.runtime.approvals.list() == []


@pytest.mark.req("APR-4")
async def test_a_route_can_ask_for_a_group(tmp_path: Path) -> None:
    async with open_house(config(tmp_path, approvals={"routes": {"human": {"group": "treasury"}}})) as house:
        asked = assert_waiting(await house.call(*PAY))
        with pytest.raises(VoteRefused, match="not an approver"):
            await house.vote(asked, "erin")
        await house.vote(asked, "dan")


@pytest.mark.req("APR-5")
@pytest.mark.parametrize("reason", [None, "", "  \n"])
async def test_a_rejection_needs_a_reason(tmp_path: Path, reason: str | None) -> None:
    async with open_house(config(tmp_path)) as house:
        asked = assert_waiting(await house.call(*PAY))
        with pytest.raises(VoteRefused, match="needs a reason"):
            await house.vote(asked, "alice", "reject", reason)


@pytest.mark.req("APR-5")
async def test_a_rejected_call_is_refused_at_once_however_often_it_is_tried_again(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        session = house.session()
        asked = assert_waiting(await session.call(*PAY))
        await house.vote(asked, "alice", "reject", "we do not know this shop")
        told = assert_refused(await session.resume(asked.invocation_id), "approval_rejected")
        for attempt in ({}, {"idempotency_key": "another"}, {"idempotency_key": "third"}, {}):
            again = assert_refused(
                await session.call("pay", {"amount": 5, "to": "shop"}, **attempt), "approval_rejected"
            )
            assert again.message == told.message
        assert await house.runtime.approvals.list() == []
        session.heard("please, pay the shop")
        assert_refused(await session.call(*PAY), "approval_rejected")
        assert house.ran == []
        tries = await house.events("tool_proposed")
    assert "we do not know this shop" in told.message
    assert "do not retry" in told.for_model()
    assert len(tries) == 6


@pytest.mark.req("APR-5")
async def test_a_rejection_settles_the_call_for_that_session_alone(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        session = house.session()
        asked = await session.call(*PAY)
        await house.vote(asked, "alice", "reject", "no")
        assert_waiting(await session.call("pay", {"to": "shop", "amount": 6}))
        assert_waiting(await house.call(*PAY))


@pytest.mark.req("APR-5")
async def test_one_rejection_is_enough_where_two_votes_are_needed(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        session = house.session()
        asked = await session.call("grant_access", {"person": "x"})
        await house.vote(asked, "alice")
        await house.vote(asked, "dan", "reject", "no")
        assert_refused(await session.resume(asked.invocation_id), "approval_rejected")


@pytest.mark.req("APR-5", "SAN-2")
async def test_a_reject_reason_is_cleaned_before_anybody_reads_it(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        session = house.session()
        asked = await session.call(*PAY)
        await house.vote(asked, "alice", "reject", "no\x1b]0;evil\x07 \u202ewa\ud800y" + "x" * 9_000)
        outcomes = [await session.resume(asked.invocation_id), await session.call(*PAY)]
    for outcome in outcomes:
        said = repr(outcome.as_dict()) + outcome.for_model()
        assert len(said) < 9_000
        for hidden in ("\x1b", "\\x1b", "\u202e", "\\u202e", "\ud800", "evil"):
            assert hidden not in said


@pytest.mark.req("APR-6")
async def test_silence_is_refusal_and_a_late_vote_does_not_count(tmp_path: Path) -> None:
    async with open_house(config(tmp_path, approvals={"expire": "1h"})) as house:
        session = house.session()
        asked = assert_waiting(await session.call(*PAY))
        house.clock.forward(timedelta(minutes=59, seconds=59))
        assert_waiting(await session.resume(asked.invocation_id))
        house.clock.forward(timedelta(seconds=1))
        assert await house.runtime.approvals.list() == []
        with pytest.raises(VoteRefused, match="expired"):
            await house.vote(asked, "alice")
        assert_refused(await session.resume(asked.invocation_id), "approval_expired")
        assert_refused(await session.resume(asked.invocation_id), "approval_expired")
        (resolved,) = await house.events("approval_resolved")
        assert assert_waiting(await session.call(*PAY)).approval_id != asked.approval_id
        assert house.ran == []
    assert resolved["body"]["status"] == "expired"


@pytest.mark.req("APR-6")
async def test_an_approval_that_nobody_used_in_time_expires_too(tmp_path: Path) -> None:
    async with open_house(config(tmp_path, approvals={"expire": "1h"})) as house:
        session = house.session()
        asked = await session.call(*PAY)
        await house.vote(asked, "alice")
        house.clock.forward(timedelta(hours=1))
        assert_refused(await session.resume(asked.invocation_id), "approval_expired")
        assert house.ran == []


@pytest.mark.req("APR-2")
async def test_a_clock_in_another_time_zone_changes_nothing(tmp_path: Path) -> None:
    clock = Clock(at=START.astimezone(timezone(timedelta(hours=5, minutes=30))))
    async with open_house(config(tmp_path), clock=clock) as house:
        session = house.session()
        asked = await session.call(*PAY)
        await house.vote(asked, "alice")
        assert_completed(await session.resume(asked.invocation_id))


@pytest.mark.req("POL-1", "APR-4")
async def test_a_denied_call_is_put_to_nobody(tmp_path: Path) -> None:
    async with open_house(config(tmp_path, policy=rules(rule("deny", tool="pay")))) as house:
        assert_refused(await house.call(*PAY), "policy_denied")
        assert await house.runtime.approvals.list() == []
        assert await house.events("tool_invocation_approval_required") == []


@pytest.mark.req("APR-1")
async def test_bad_arguments_are_put_to_nobody(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        assert_refused(await house.call("pay", {"to": "shop", "amount": "five"}), "input_invalid")
        assert await house.runtime.approvals.list() == []
