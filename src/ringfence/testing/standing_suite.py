"""What every store must do with standing grants and freezes: inherit `StandingSuite` beside `StoreSuite`.

Takes: the fixtures of `StoreSuite`.  Gives: the tests.  Never: looks beneath the protocols.
"""
# ruff: noqa: S101

from __future__ import annotations

from datetime import timedelta
from typing import Any

from ringfence.approvals.standing import Bounds, Ended, StandingGrant
from ringfence.approvals.warrant import Warrant
from ringfence.errors import Misuse
from ringfence.runtime.freezing import Freeze, Scope
from ringfence.runtime.invocation import Status
from ringfence.testing.store_samples import (
    START,
    Store,
    allowed,
    ask,
    call,
    noted,
    queue,
    refusal,
    send,
    status_of,
    whats,
)


def granted(id_: str = "g", *signed_by: str, **changes: Any) -> StandingGrant:
    """A grant of one use for the suite's tool that sends."""
    bounds: dict[str, Any] = {
        "agent": "ana", "tool": send.name, "fingerprint": send.fingerprint, "source_digest": "sha256:code",
        "when": {"args.x": {"lt": 9}}, "answers": (), "max_uses": 1, "given_at": START,
        "expires_at": START + timedelta(hours=8), "because": "so", **changes,
    }  # fmt: skip
    return StandingGrant(id=id_, bounds=Bounds(**bounds), safety="network", signed_by=signed_by or ("bob",))


async def start_by(store: Store, id_: str, *grants: str) -> None:
    warrant = Warrant(invocation_id=id_, basis="standing", approval_id=None, digest="d", grants=grants)
    await store.start(call(id_, send), warrant=warrant, durability="full", events=[noted("started")])


class StandingSuite:
    """Every promise of a store about what was approved in advance and what was stopped."""

    async def test_a_grant_reads_back_as_it_was_given(self, store: Store) -> None:
        await store.give(granted("g", "bob", "olga"), events=[noted("given")])
        assert await store.standing_grants() == (granted("g", "bob", "olga"),)
        assert await store.open_grants(agent="ana", tool="send") == (granted("g", "bob", "olga"),)
        assert await store.open_grants(agent="ben", tool="send") == ()

    async def test_a_use_starts_one_call_and_is_gone(self, store: Store) -> None:
        await store.give(granted(), events=[])
        await start_by(store, "i", "g")
        assert await status_of(store, "i") is Status.RUNNING
        assert await refusal(start_by(store, "j", "g")) == "approval_void"
        assert await store.recorded("j") is None
        assert sum("started" in what for what in await whats(store)) == 1

    async def test_a_grant_that_ended_or_that_a_proposer_signed_starts_nothing(self, store: Store) -> None:
        await store.give(granted("g", "alice"), events=[])
        assert await refusal(start_by(store, "i", "g")) == "approval_void"
        await store.give(granted("h"), events=[])
        await store.revoke("h", ended=Ended(at=START, by="bob", why="over"), events=[])
        assert await refusal(start_by(store, "i", "h")) == "approval_void"
        again = store.revoke("h", ended=Ended(at=START, by="bob", why="over"), events=[])
        assert await refusal(again, Misuse) == "misuse"

    async def test_a_freeze_voids_what_waits_and_lets_nothing_start_or_ask(self, store: Store) -> None:
        await queue(store, call("i", send))
        await ask(store, call("j", send))
        freeze = Freeze(id="f", scope=Scope(), by="bob", because="x", at=START)
        void = await store.freeze(freeze, tell=lambda _: [noted("frozen")])
        assert {each.invocation_id for each in void} == {"i", "j"}
        assert [await status_of(store, each) for each in ("i", "j")] == [Status.VOID, Status.VOID]
        assert await refusal(ask(store, call("k", send))) == "frozen"
        started = store.start(call("l"), warrant=allowed(call("l")), durability="normal", events=[])
        assert await refusal(started) == "frozen"
        assert await store.unfreeze(Scope(), by="bob", tell=lambda _: []) == 1
        await store.start(call("l"), warrant=allowed(call("l")), durability="normal", events=[])
        assert await store.freezes() == ()
