"""What every store must do, whatever database it uses: inherit `StoreSuite` and say how to open yours.

Takes: a fixture `open_store` that opens one more handle on the same database.  Gives: the tests.
Never: looks beneath the protocols.
"""
# ruff: noqa: S101

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any, Literal

import pytest

from ringfence.approvals.inbox import ApprovalStatus
from ringfence.errors import DeclarationRefused, Misuse, RingfenceError, VoteRefused
from ringfence.registry.pins import Pin, Trust
from ringfence.registry.registry import register
from ringfence.runtime.invocation import Status
from ringfence.testing.store_samples import (
    START,
    Clock,
    OpenStore,
    Store,
    allowed,
    ask,
    by_votes,
    call,
    ended,
    furnish,
    look,
    noted,
    offered,
    queue,
    refusal,
    send,
    status_of,
    told,
    vote,
    whats,
)


class StoreSuite:
    """Inherit, override `open_store` with a fixture, and every promise of a store is tested."""

    @pytest.fixture
    def clock(self) -> Clock:
        return Clock()

    @pytest.fixture
    def open_store(self, clock: Clock) -> OpenStore:
        raise Misuse("the suite has no store to test", remedy="override `open_store` with a fixture that opens yours")

    @pytest.fixture
    async def store(self, open_store: OpenStore) -> Store:
        store = await open_store()
        await furnish(store)
        return store

    async def test_a_call_reads_back_as_it_was_proposed(self, store: Store) -> None:
        invocation = call("i", send, binding="whatsapp:sales")
        approval = await ask(store, invocation)
        recorded = await store.recorded("i")
        assert recorded is not None
        assert (recorded.invocation, recorded.status, recorded.approval) == (invocation, Status.PENDING, approval)
        assert await store.approval(approval.id) == approval
        assert await store.pending_approvals() == (approval,)

    async def test_what_was_never_proposed_is_not_on_record(self, store: Store) -> None:
        assert await store.recorded("i") is None
        assert await store.approval("a") is None
        assert await store.latest_like(session="s-1", tool="look", arguments_digest="sha256:args") is None

    @pytest.mark.parametrize("durability", ["normal", "full"])
    async def test_an_allowed_call_runs_and_ends(self, store: Store, durability: Literal["normal", "full"]) -> None:
        invocation = call("i")
        await store.start(invocation, warrant=allowed(invocation), durability=durability, events=[noted("started")])
        assert await status_of(store, "i") is Status.RUNNING
        await store.finish("i", ending=ended(), durability=durability, events=[noted("ended")])
        recorded = await store.recorded("i")
        assert recorded is not None
        assert (recorded.status, recorded.outcome) == (Status.COMPLETED, {"output": [1, "zwei"]})

    async def test_a_call_in_doubt_can_be_settled(self, store: Store) -> None:
        invocation = call("i")
        await store.start(invocation, warrant=allowed(invocation), durability="full", events=[])
        await store.finish("i", ending=ended(Status.IN_DOUBT), durability="full", events=[])
        await store.finish("i", ending=ended(Status.FAILED), durability="full", events=[])
        assert await status_of(store, "i") is Status.FAILED

    async def test_a_call_ends_once(self, store: Store) -> None:
        invocation = call("i")
        await store.start(invocation, warrant=allowed(invocation), durability="normal", events=[])
        await store.finish("i", ending=ended(), durability="normal", events=[])
        again = store.finish("i", ending=ended(Status.FAILED), durability="normal", events=[noted("never")])
        assert await refusal(again, Misuse) == "misuse"
        unknown = store.finish("j", ending=ended(), durability="normal", events=[])
        assert await refusal(unknown, Misuse) == "misuse"
        assert not any("never" in what for what in await whats(store))

    async def test_a_call_for_no_known_tool_can_be_refused_and_nothing_else(self, store: Store) -> None:
        nothing = call("i", None)
        assert await refusal(ask(store, nothing), Misuse) == "misuse"
        started = store.start(nothing, warrant=allowed(nothing), durability="normal", events=[])
        assert await refusal(started, RingfenceError) in ("misuse", "approval_void")
        assert await store.recorded("i") is None
        await store.refuse(nothing, code="tool_not_found", events=[])
        recorded = await store.recorded("i")
        assert recorded is not None
        assert (recorded.status, recorded.code) == (Status.REFUSED, "tool_not_found")

    async def test_a_call_names_a_registered_contract(self, store: Store) -> None:
        stranger = call("i", fingerprint="sha256:other")
        assert await refusal(store.refuse(stranger, code="policy_denied", events=[]), Misuse) == "misuse"

    async def test_a_started_call_cannot_be_started_again(self, store: Store) -> None:
        invocation = call("i")
        await store.start(invocation, warrant=allowed(invocation), durability="normal", events=[])
        again = store.start(invocation, warrant=allowed(invocation), durability="full", events=[noted("never")])
        assert await refusal(again) == "in_flight"
        await store.finish("i", ending=ended(), durability="normal", events=[])
        late = store.start(invocation, warrant=allowed(invocation), durability="normal", events=[noted("never")])
        assert await refusal(late) == "approval_void"
        assert not any("never" in what for what in await whats(store))

    async def test_a_tool_that_writes_to_the_far_side_runs_by_votes_alone(self, store: Store) -> None:
        invocation = call("i", send)
        bare = store.start(invocation, warrant=allowed(invocation), durability="full", events=[])
        assert await refusal(bare) == "approval_void"
        approval = await queue(store, invocation)
        bare = store.start(invocation, warrant=allowed(invocation), durability="full", events=[])
        assert await refusal(bare) == "approval_void"
        await store.start(invocation, warrant=by_votes(approval), durability="full", events=[])
        assert await status_of(store, "i") is Status.RUNNING

    async def test_a_call_that_asked_for_votes_runs_by_votes_alone(self, store: Store) -> None:
        invocation = call("i", look)
        await queue(store, invocation)
        bare = store.start(invocation, warrant=allowed(invocation), durability="full", events=[])
        assert await refusal(bare) == "approval_void"

    async def test_votes_for_something_else_start_nothing(self, store: Store) -> None:
        first, second = call("i", send), call("j", send)
        approval, other = await queue(store, first), await queue(store, second)
        altered = replace(by_votes(approval), digest="sha256:other")
        assert await refusal(store.start(first, warrant=altered, durability="full", events=[])) == "approval_void"
        foreign = replace(by_votes(other), invocation_id="i")
        assert await refusal(store.start(first, warrant=foreign, durability="full", events=[])) == "approval_void"
        swapped = store.start(first, warrant=by_votes(other), durability="full", events=[])
        assert await refusal(swapped) == "approval_void"
        assert await status_of(store, "i") is Status.QUEUED

    async def test_a_call_with_other_arguments_is_not_the_one_on_record(self, store: Store) -> None:
        invocation = call("i", send)
        approval = await queue(store, invocation)
        other = replace(invocation, arguments="{}", arguments_digest="sha256:else")
        started = store.start(other, warrant=by_votes(approval), durability="full", events=[])
        assert await refusal(started) == "approval_void"

    async def test_a_pending_call_cannot_be_started(self, store: Store) -> None:
        approval = await ask(store, call("i", send))
        started = store.start(call("i", send), warrant=by_votes(approval), durability="full", events=[])
        assert await refusal(started) == "approval_void"

    async def test_a_queued_call_can_be_refused_and_then_never_runs(self, store: Store) -> None:
        invocation = call("i", send)
        approval = await queue(store, invocation)
        await store.refuse(invocation, code="policy_denied", events=[])
        started = store.start(invocation, warrant=by_votes(approval), durability="full", events=[])
        assert await refusal(started) == "approval_void"
        assert await status_of(store, "i") is Status.REFUSED

    @pytest.mark.parametrize(
        ("stage", "to", "code"),
        [
            ("pending", Status.VOID, None),
            ("pending", Status.EXPIRED, None),
            ("pending", Status.CANCELLED, "approval_void"),
            ("queued", Status.VOID, None),
            ("queued", Status.CANCELLED, None),
            ("queued", Status.EXPIRED, "approval_void"),
            ("running", Status.CANCELLED, "in_flight"),
            ("running", Status.VOID, "in_flight"),
        ],
    )
    async def test_a_waiting_call_can_be_withdrawn(self, store: Store, stage: str, to: Any, code: str | None) -> None:
        invocation = call("i", send)
        approval = await (ask if stage == "pending" else queue)(store, invocation)
        if stage == "running":
            await store.start(invocation, warrant=by_votes(approval), durability="full", events=[])
        before = await status_of(store, "i")
        withdrawn = store.withdraw("i", to=to, code="approval_void", events=[noted("withdrawn")])
        if code:
            assert await refusal(withdrawn) == code
        else:
            await withdrawn
        assert await status_of(store, "i") is (before if code else to)
        assert any("withdrawn" in what for what in await whats(store)) is (code is None)

    async def test_two_votes_come_from_two_people(self, store: Store) -> None:
        approval = await ask(store, call("i", send), votes_needed=2)
        once = await store.cast(vote(approval, "dan"), tell=told)
        assert once.status is ApprovalStatus.PENDING
        assert await refusal(store.cast(vote(approval, "dan"), tell=told), VoteRefused) == "vote_refused"
        twice = await store.cast(vote(approval, "eve"), tell=told)
        assert twice.status is ApprovalStatus.APPROVED
        assert await store.approval(approval.id) == twice
        assert await status_of(store, "i") is Status.QUEUED

    async def test_a_rejection_ends_the_call_and_keeps_its_reason(self, store: Store) -> None:
        approval = await ask(store, call("i", send))
        await store.cast(vote(approval, "dan", "reject"), tell=told)
        recorded = await store.recorded("i")
        assert recorded is not None
        assert recorded.approval is not None
        assert (recorded.status, recorded.code) == (Status.REJECTED, "approval_rejected")
        assert [each.reason for each in recorded.approval.votes] == ["too dear"]
        assert await store.pending_approvals() == ()

    @pytest.mark.parametrize(
        ("voter", "decision", "changes"),
        [
            ("alice", "approve", {}),
            ("carol", "reject", {}),
            ("dan", "approve", {"digest": "sha256:other"}),
            ("dan", "approve", {"at": START + timedelta(hours=24)}),
            ("dan", "reject", {"reason": None}),
            ("dan", "reject", {"reason": "  "}),
            ("dan", "approve", {"approval_id": "nowhere"}),
        ],
        ids=["proposer", "owner", "other-digest", "expired", "no-reason", "blank-reason", "unknown"],
    )
    async def test_a_vote_against_the_rules_is_refused(
        self, store: Store, voter: str, decision: Any, changes: dict[str, Any]
    ) -> None:
        approval = await ask(store, call("i", send))
        cast = store.cast(vote(approval, voter, decision, **changes), tell=told)
        assert await refusal(cast, VoteRefused) == "vote_refused"
        assert await store.approval(approval.id) == approval
        assert not any("vote:" in what for what in await whats(store))

    async def test_a_resolved_request_takes_no_more_votes(self, store: Store) -> None:
        approval = await queue(store, call("i", send))
        late = store.cast(vote(approval, "eve", "reject"), tell=told)
        assert await refusal(late, VoteRefused) == "vote_refused"

    async def test_a_request_whose_time_is_over_is_closed_by_whoever_meets_it(self, store: Store, clock: Clock) -> None:
        approval = await ask(store, call("i", send))
        assert await store.expire_due(clock(), tell=lambda _: []) == ()
        clock.at = START + timedelta(hours=24)
        assert await store.pending_approvals() == ()
        backdated = store.cast(vote(approval, "dan"), tell=told)
        assert await refusal(backdated, VoteRefused) == "vote_refused"
        assert await store.expire_due(clock(), tell=lambda due: [noted(f"late {due.id}")]) == (approval,)
        assert await status_of(store, "i") is Status.EXPIRED
        assert sum("late a-i" in what for what in await whats(store)) == 1

    async def test_the_newest_call_of_its_kind_that_people_were_asked_about_is_found(self, store: Store) -> None:
        for id_ in ("i", "j"):
            await ask(store, call(id_, send))
        await ask(store, call("k", send, session="s-2"))
        await store.refuse(call("l", send), code="policy_denied", events=[])
        found = await store.latest_like(session="s-1", tool="send", arguments_digest="sha256:args")
        assert found is not None
        assert found.invocation.id == "j"

    async def test_events_are_kept_in_order_and_paged(self, store: Store) -> None:
        for number in range(5):
            await store.append([noted(f"event {number}"), noted(f"more {number}")])
        places = [place async for place, _ in store.links()]
        assert places == sorted(set(places))
        assert (len(places), await store.position()) == (11, places[-1])
        part = [place async for place, _ in store.links(after=places[3], limit=4)]
        assert part == places[4:8]

    async def test_a_refused_move_leaves_no_event_and_no_gap(self, store: Store) -> None:
        await store.append([noted("before")])
        invocation = call("i", send)
        await refusal(store.start(invocation, warrant=allowed(invocation), durability="normal", events=[noted("x")]))
        await store.append([noted("after")])
        await store.checkpoint()
        report = await store.verify()
        assert (report.problems, report.events, report.uncovered) == ((), 3, 0)

    async def test_the_trail_proves_itself_by_a_key_named_from_outside(self, store: Store) -> None:
        await store.checkpoint()
        report = await store.verify()
        assert report.ok
        assert (await store.verify(key=report.key)).ok
        assert not (await store.verify(key="ed25519:other")).ok

    async def test_handles_share_calls_votes_and_trail(self, store: Store, open_store: OpenStore) -> None:
        other = await open_store()
        invocation = call("i", send)
        approval = await ask(store, invocation)
        assert await other.pending_approvals() == (approval,)
        await other.cast(vote(approval, "dan"), tell=told)
        await store.start(invocation, warrant=by_votes(approval), durability="full", events=[noted("here")])
        again = other.start(invocation, warrant=by_votes(approval), durability="full", events=[noted("there")])
        assert await refusal(again) == "in_flight"
        await other.finish("i", ending=ended(), durability="full", events=[])
        await store.checkpoint()
        await other.checkpoint()
        assert (await other.verify()).ok

    async def test_pins_follow_code_and_acceptance_and_never_a_changed_contract(self, store: Store) -> None:
        key = ("code", "look")
        first = (await store.pins())[key]
        assert first == Pin(
            source="code",
            tool="look",
            fingerprint=look.fingerprint,
            source_digest="sha256:code",
            trust=Trust.PINNED,
        )
        moved = register([offered(look, source_digest="sha256:new", accepted_by=None)], ledger=await store.ledger())
        await store.record_registrations(moved, events=[])
        assert (await store.pins())[key] == replace(first, source_digest="sha256:new")
        changed = register([offered(replace(look, description="Look at two."))], ledger=await store.ledger())
        assert changed.tools["look"].quarantine == "definition_changed"
        await store.record_registrations(changed, events=[noted("changed")])
        assert (await store.pins())[key] == replace(first, source_digest="sha256:new")

    async def test_a_first_sight_that_came_second_is_refused(self, open_store: OpenStore) -> None:
        store = await open_store()
        mine = register([offered(look)], ledger=await store.ledger())
        theirs = register([offered(replace(look, description="Look at two."))], ledger=await store.ledger())
        await store.record_registrations(mine, events=[])
        late = store.record_registrations(theirs, events=[noted("never")])
        assert await refusal(late, DeclarationRefused) == "definition_changed"
        assert await whats(store) == []

    async def test_a_session_stays_with_its_agent_binding_and_user(self, store: Store) -> None:
        known: dict[str, Any] = {"agent": "ana", "binding": None, "user": "alice"}
        await store.open_session("s", **known)
        await store.open_session("s", **known)
        changes: list[dict[str, Any]] = [{"agent": "bob"}, {"binding": "whatsapp:sales"}, {"user": None}]
        for change in changes:
            assert await refusal(store.open_session("s", **{**known, **change}), Misuse) == "misuse"
