"""A tool is asked how its own call in doubt ended; only a plain answer settles it, and nothing is changed by asking."""

from __future__ import annotations

from typing import Any

import pytest

from ringfence import Context, Files, Network, NotDone, Secrets, Storage, tool
from ringfence.agents.profile import Permits
from ringfence.assembly.assemble import utc_now
from ringfence.contract.capabilities import Capability
from ringfence.contract.safety import Egress
from ringfence.errors import DeclarationRefused, Misuse, OperatorRequired
from ringfence.execution.sandbox import RawOutput
from ringfence.policy.grant import only_asking, resolve_grant
from ringfence.runtime import Failed
from ringfence.runtime.invocation import Status
from tests.acceptance.database.conftest import MakeConfig, settings
from tests.acceptance.database.reconcilable import TOOLS, was_put
from tests.acceptance.spine.household import (
    Clock,
    House,
    assert_completed,
    assert_refused,
    fault,
    open_house,
    raw,
    reply,
    scripted,
)

__all__ = ["settings"]

pytestmark = pytest.mark.req("IDM-3")


LETTER = {"title": "x"}


def doubted(settings: MakeConfig, said: Any, **changes: Any) -> Any:
    """A house whose calls all fail, and whose tool gives this answer when asked."""
    replies = {"put": fault("it broke"), "put_blindly": fault("it broke"), "put.reconcile": said}
    return open_house(settings(**changes), tools=TOOLS, sandbox=scripted(replies), clock=Clock(at=utc_now()))


async def in_doubt(house: House, name: str = "put") -> str:
    outcome = await house.session().call(name, LETTER, idempotency_key="k")
    assert isinstance(outcome, Failed), outcome
    return outcome.invocation_id


async def status(house: House, call: str) -> Status:
    recorded = await house.runtime.recorded(call)
    assert recorded is not None
    return recorded.status


async def test_what_was_done_is_told_again_by_the_tools_own_word(settings: MakeConfig) -> None:
    async with doubted(settings, reply({"answer": "done", "output": "sent"})) as house:
        call = await in_doubt(house)
        again = assert_completed(await house.session().call("put", LETTER, idempotency_key="k"))
        assert (again.invocation_id, again.output, await status(house, call)) == (call, "sent", Status.COMPLETED)
        assert [job.purpose for job in house.sandbox.jobs] == ["call", "reconcile"]
        assert [event["kind"] for event in await house.events()][-4:] == [
            "reconcile_started",
            "reconcile_ended",
            "call_settled",
            "call_repeated",
        ]
        (settled,) = await house.events("call_settled")
        assert settled["body"] == {
            "status": "completed",
            "by": "reconcile",
            "because": "the tool says so, asked by a call under the same key",
        }


async def test_what_was_not_done_frees_the_key_and_the_call_runs(settings: MakeConfig) -> None:
    async with doubted(settings, reply({"answer": "not_done"})) as house:
        call = await in_doubt(house)
        again = await house.session().call("put", LETTER, idempotency_key="k")
        assert isinstance(again, Failed)
        assert (again.invocation_id != call, await status(house, call)) == (True, Status.FAILED)
        assert [job.purpose for job in house.sandbox.jobs] == ["call", "reconcile", "call"]


@pytest.mark.req("CON-3", "SAN-3")
@pytest.mark.parametrize(
    ("said", "code"),
    [
        (reply({"answer": "cannot_tell"}), None),
        (fault("no connection"), "tool_error"),
        (fault("too slow", code="wall_limit"), "wall_limit"),
        (reply("done"), "protocol_error"),
        (reply({"answer": "done"}), "protocol_error"),
        (reply({"answer": "not_done", "output": "x"}), "protocol_error"),
        (reply({"answer": ["not_done"]}), "protocol_error"),
        (reply({"answer": {"not_done": 1}}), "protocol_error"),
        (reply({"answer": "DONE", "output": "x"}), "protocol_error"),
        (reply({"answer": "not_done"}, for_model="it was not done"), "protocol_error"),
        (reply([]), "protocol_error"),
        (raw(b"{"), "protocol_error"),
        (raw(b'{"answer":"not_done","answer":"done"}'), "protocol_error"),
        (RawOutput(reply=None), "protocol_error"),
        (reply({"answer": "done", "output": 7}), "output_invalid"),
        (reply({"answer": "done", "output": None}), "output_invalid"),
    ],
)
async def test_an_answer_that_is_none_leaves_the_call_in_doubt(
    settings: MakeConfig, said: RawOutput, code: str | None
) -> None:
    async with doubted(settings, said) as house:
        call = await in_doubt(house)
        assert_refused(await house.session().call("put", LETTER, idempotency_key="k"), "in_doubt")
        assert await status(house, call) is Status.IN_DOUBT
        (told,) = await house.events("reconcile_ended")
        assert told["body"]["code"] == code
        assert house.ran == ["put", "put"]
        assert (await house.runtime.audit.verify()).ok


async def test_a_tool_without_reconcile_is_not_asked(settings: MakeConfig) -> None:
    async with doubted(settings, reply({"answer": "not_done"})) as house:
        call = await in_doubt(house, "put_blindly")
        assert_refused(await house.session().call("put_blindly", LETTER, idempotency_key="k"), "in_doubt")
        assert house.ran == ["put_blindly"]
        with pytest.raises(Misuse, match="no `reconcile`"):
            await house.runtime.calls.reconcile(call, by="bob")


@pytest.mark.req("OPS-1")
async def test_an_operator_has_the_tool_asked(settings: MakeConfig) -> None:
    async with doubted(settings, reply({"answer": "done", "output": "sent"})) as house:
        call = await in_doubt(house)
        with pytest.raises(OperatorRequired):
            await house.runtime.calls.reconcile(call, by="alice")
        settled = await house.runtime.calls.reconcile(call, by="bob")
        assert settled.status is Status.COMPLETED
        with pytest.raises(Misuse, match="not in doubt"):
            await house.runtime.calls.reconcile(call, by="bob")


@pytest.mark.req("OPS-8")
async def test_while_calls_are_frozen_nothing_is_asked(settings: MakeConfig) -> None:
    async with doubted(settings, reply({"answer": "not_done"})) as house:
        await in_doubt(house)
        await house.runtime.freezes.freeze(by="bob", because="an incident")
        assert_refused(await house.session().call("put", LETTER, idempotency_key="k"), "frozen")
        assert house.ran == ["put"]


@pytest.mark.req("POL-1")
async def test_an_agent_that_could_not_make_the_call_any_more_has_nothing_asked(settings: MakeConfig) -> None:
    async with doubted(settings, reply({"answer": "not_done"})) as house:
        await in_doubt(house)
    denied = {"rules": [{"match": {"tool": "put"}, "decision": "deny", "because": "not any more"}]}
    async with doubted(settings, reply({"answer": "not_done"}), policy=denied) as house:
        assert_refused(await house.session().call("put", LETTER, idempotency_key="k"), "policy_denied")
        assert house.ran == []


async def test_a_trail_that_cannot_be_written_has_nothing_asked(settings: MakeConfig) -> None:
    async with doubted(settings, reply({"answer": "not_done"})) as house:
        await in_doubt(house)
        kept: Any = house.runtime._parts.store  # pyright: ignore[reportPrivateUsage]

        async def refuse(_: Any) -> None:
            raise Misuse("the trail is gone")

        kept.append = refuse
        assert (await house.session().call("put", LETTER, idempotency_key="k")).status == "refused"
        assert house.ran == ["put"]


@pytest.mark.req("CON-5")
async def test_what_is_asked_can_write_nowhere(settings: MakeConfig) -> None:
    async with doubted(settings, reply({"answer": "cannot_tell"})) as house:
        await in_doubt(house)
        await house.session().call("put", LETTER, idempotency_key="k")
        first, asked = house.sandbox.jobs
        assert [need.document() for need in asked.grant.capabilities] == [
            {"kind": "files", "read": ["outbox"], "write": []}
        ]
        assert (asked.idempotency_key, asked.invocation_id) == (first.idempotency_key, first.invocation_id)
        assert asked.egress is not Egress.WRITE


def test_the_same_reach_has_nothing_left_to_change_anything() -> None:
    needs: list[Capability] = [
        Network("api.example.com"),
        Secrets("KEY", hosts=["api.example.com"]),
        Secrets("RAW", hosts=["api.example.com"], reveal=True),
        Storage("tool"),
        Files(read=["in"], write=["out"]),
    ]
    permits = Permits(
        network=Network.permit("api.example.com"),
        secrets=Secrets.permit("KEY", "RAW"),
        files=Files(read=["in"], write=["out"]),
        storage=(Storage("tool"),),
    )
    whole = resolve_grant("x", needs, permits=permits, egress=Egress.WRITE)
    asked = only_asking(whole)
    assert [need.kind for need in asked.capabilities] == ["network", "secrets", "storage", "files"]
    assert (asked.capabilities[-1], asked.way) == (Files(read=["in", "out"]), "inspected")


def test_a_reconcile_that_could_not_be_called_is_refused_where_it_is_declared() -> None:
    def no_key(ctx: Context) -> NotDone:
        return NotDone()

    def other_key(key: int) -> NotDone:
        return NotDone()

    def too_much(key: str, amount: int) -> NotDone:
        return NotDone()

    for wrong in (no_key, other_key, too_much):
        with pytest.raises(DeclarationRefused, match="`key: str`"):
            tool(safety="write", idempotency="optional", reconcile=wrong)(_written)
    with pytest.raises(DeclarationRefused, match="ever in doubt"):
        tool(safety="read", reconcile=was_put)(_written)
    plain = tool(safety="write", idempotency="optional")(_written)
    asked = tool(safety="write", idempotency="optional", reconcile=was_put)(_written)
    assert plain.fingerprint != asked.fingerprint


def _written(text: str) -> str:
    """Write a text."""
    return text
