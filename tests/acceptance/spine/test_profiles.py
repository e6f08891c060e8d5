"""Profiles tighten what an agent may call, and each of their lines is a reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.spine.household import (
    assert_completed,
    assert_refused,
    assert_waiting,
    config,
    open_house,
    rule,
    rules,
)

pytestmark = pytest.mark.req("POL-3")

PROFILE = {"profile": "support"}


def profiled(tmp_path: Path, **profile: Any) -> dict[str, Any]:
    return config(tmp_path, agent=PROFILE, profiles={"support": profile})


async def test_deny_wins_over_allow_and_the_tool_stays_visible(tmp_path: Path) -> None:
    async with open_house(profiled(tmp_path, allow=["*"], deny=["ec*"])) as house:
        outcome = assert_refused(await house.call("echo", {"text": "x"}), "policy_denied")
        assert_completed(await house.call("look_up", {"name": "x"}))
        assert "echo" in {each.name for each in house.session().view}
    assert outcome.message == "profile `support` denies `ec*`"


async def test_an_allowlist_denies_the_rest(tmp_path: Path) -> None:
    async with open_house(profiled(tmp_path, allow=["group:reading"], groups={"reading": ["echo", "look_*"]})) as house:
        assert_completed(await house.call("echo", {"text": "x"}))
        assert_completed(await house.call("look_up", {"name": "x"}))
        assert_refused(await house.call("note", {"text": "x"}), "policy_denied")


async def test_an_empty_allowlist_allows_nothing(tmp_path: Path) -> None:
    async with open_house(profiled(tmp_path, allow=[])) as house:
        assert_refused(await house.call("echo", {"text": "x"}), "policy_denied")


async def test_a_profile_can_ask_for_a_vote_and_cannot_spare_one(tmp_path: Path) -> None:
    async with open_house(profiled(tmp_path, allow=["*"], requires_approval=["echo"])) as house:
        assert_waiting(await house.call("echo", {"text": "x"}))
        assert assert_waiting(await house.call("grant_access", {"person": "x"})).votes_needed == 2
        assert_completed(await house.call("look_up", {"name": "x"}))


@pytest.mark.req("POL-1")
async def test_its_reasons_stand_beside_all_others(tmp_path: Path) -> None:
    settings = config(
        tmp_path,
        agent=PROFILE,
        profiles={"support": {"requires_approval": ["pay"]}},
        policy=rules(rule("approve_twice", tool="pay")),
    )
    async with open_house(settings) as house:
        explained = await house.runtime.explain("ana", "pay", {"to": "x", "amount": 1})
    assert [(reason.kind, reason.decision.word) for reason in explained.reasons] == [
        ("class_floor", "approve"),
        ("egress_floor", "allow"),
        ("profile", "approve"),
        ("rule", "approve_twice"),
    ]


@pytest.mark.req("APR-2")
async def test_an_edit_of_another_line_of_the_profile_voids_nothing_and_of_this_line_it_does(tmp_path: Path) -> None:
    async with open_house(profiled(tmp_path, requires_approval=["echo"])) as house:
        asked = [await house.call("echo", {"text": "x"}, id=name) for name in ("s1", "s2")]
        for each in asked:
            await house.vote(each, "alice")
    async with open_house(profiled(tmp_path, requires_approval=["echo", "note"], deny=["measure"])) as house:
        assert_completed(await house.session(id="s1").resume(asked[0].invocation_id))
    async with open_house(profiled(tmp_path, requires_approval=["ec*"])) as house:
        assert_refused(await house.session(id="s2").resume(asked[1].invocation_id), "approval_void")
