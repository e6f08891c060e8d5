"""A profile tightens: deny wins, an allowlist is strict, and what does not exist denies."""

from __future__ import annotations

import pytest

from ringfence.contract.patterns import GlobSet
from ringfence.policy.decision import Decision
from ringfence.policy.profiles import NO_PROFILES, GroupUnknown, Profile, Profiles, spelled_out

pytestmark = pytest.mark.req("POL-3")


def decisions(profile: Profile, tool: str) -> list[Decision]:
    return [reason.decision for reason in profile.reasons(tool)]


def test_without_lists_a_profile_says_nothing() -> None:
    assert decisions(Profile(name="p"), "pay") == []


def test_deny_wins_over_allow() -> None:
    profile = Profile(name="p", allow=GlobSet(["crm_*"]), deny=GlobSet(["*_delete"]))
    assert decisions(profile, "crm_read") == []
    assert decisions(profile, "crm_delete") == [Decision.DENY]
    assert decisions(profile, "pay") == [Decision.DENY]
    assert decisions(profile, "pay_delete") == [Decision.DENY, Decision.DENY]


def test_an_empty_allowlist_allows_nothing() -> None:
    assert decisions(Profile(name="p", allow=GlobSet([])), "echo") == [Decision.DENY]


def test_what_requires_approval_is_asked_for() -> None:
    assert decisions(Profile(name="p", requires_approval=GlobSet(["crm_*"])), "crm_read") == [Decision.APPROVE]


def test_a_reason_names_the_line_that_gave_it_and_changes_only_with_it() -> None:
    one = Profile(name="p", deny=GlobSet(["x_*"]), requires_approval=GlobSet(["crm_*"]))
    other = Profile(name="p", deny=GlobSet(["y_*"]), requires_approval=GlobSet(["crm_*", "z"]))
    renamed = Profile(name="q", requires_approval=GlobSet(["crm_*"]))
    (first,), (second,), (third,) = (list(each.reasons("crm_read")) for each in (one, other, renamed))
    assert first == second
    assert first.digest is not None
    assert first.digest != third.digest


def test_a_profile_that_does_not_exist_denies() -> None:
    (reason,) = Profiles(by_name={}).reasons("gone", "echo")
    assert (reason.kind, reason.decision) == ("profile", Decision.DENY)
    assert list(NO_PROFILES.reasons(None, "echo")) == []


def test_a_group_stands_for_its_patterns() -> None:
    groups = {"crm": ("crm_*", "lead_*")}
    assert spelled_out(("group:crm", "pay"), groups=groups) == ("crm_*", "lead_*", "pay")
    with pytest.raises(GroupUnknown):
        spelled_out(("group:cmr",), groups=groups)
