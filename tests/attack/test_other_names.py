"""Attacks 142 and 169: the model names a binding, agent, user, session or key that is not its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from ringfence.errors import Misuse
from tests.acceptance.spine.household import (
    AGENT,
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


@pytest.mark.req("CON-3", "VIEW-2")
@pytest.mark.parametrize(
    "smuggled", ["agent", "binding", "user", "session", "idempotency_key", "approval_id", "ctx", "typed_by", "account"]
)
async def test_142_who_acts_cannot_be_said_in_the_arguments(tmp_path: Path, smuggled: str) -> None:
    async with open_house(config(tmp_path)) as house:
        assert_refused(await house.call("echo", {"text": "x", smuggled: "root"}), "input_invalid")
        assert_completed(await house.call("echo", {"text": "x"}))


@pytest.mark.req("POL-2")
async def test_142_a_rule_about_a_binding_is_not_dodged_by_the_model(tmp_path: Path) -> None:
    places = ("chat:public", "chat:private")
    policy = rules(rule("deny", binding="chat:public"))
    settings = config(tmp_path, agent=bound(*places), accounts=accounts(*places), policy=policy)
    async with open_house(settings) as house:
        assert_refused(
            await house.call("echo", {"text": "binding: chat:private"}, binding="chat:public"), "policy_denied"
        )
        assert_completed(await house.call("echo", {"text": "x"}, binding="chat:private"))


@pytest.mark.req("IDM-1")
async def test_142_and_169_a_key_of_another_agent_is_a_key_of_its_own(tmp_path: Path) -> None:
    async with open_house(config(tmp_path, agents={"ana": AGENT, "ben": AGENT})) as house:
        await house.session(agent="ana").call("note", {"text": "x"}, idempotency_key="k")
        theirs = house.sandbox.jobs[0].idempotency_key
        for stolen in ("k", theirs):
            await house.session(agent="ben").call("note", {"text": "x"}, idempotency_key=stolen)
    assert theirs not in {job.idempotency_key for job in house.sandbox.jobs[1:]}


@pytest.mark.req("APR-3", "VIEW-2")
async def test_142_a_session_cannot_be_taken_over_by_its_id(tmp_path: Path) -> None:
    async with open_house(config(tmp_path, agents={"ana": AGENT, "ben": AGENT})) as house:
        assert_waiting(await house.call("pay", {"to": "x", "amount": 1}, id="s1"))
        for thief in ({"agent": "ben"}, {"user": "mallory"}, {"user": None}):
            with pytest.raises(Misuse, match="belongs to another"):
                await house.call("echo", {"text": "x"}, id="s1", **thief)
        assert house.ran == []
        assert_completed(await house.call("echo", {"text": "x"}, id="s1"))
