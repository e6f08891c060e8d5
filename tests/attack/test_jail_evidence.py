"""What the host read of the very processes that served the hostile tools, and what they left behind."""

from __future__ import annotations

from typing import Any

import pytest

from tests.attack.conftest import Campaigns
from tests.attack.row import Privilege
from tests.attack.table import TABLE

_WALL_SECONDS = 30


@pytest.mark.req("SBX-6")
def test_every_hostile_call_met_the_same_walls(privilege: Privilege, campaigns: Campaigns) -> None:
    """One jail for those without needs, and one for each kind of grant."""
    granted = {row.probe: row.module for row in TABLE if row.module.startswith("granted_")}
    told = campaigns.jailed(privilege)
    hashes = {(granted.get(probe, ""), one["evidence"]["blueprint"]) for probe, one in told.items()}
    assert sorted(kind for kind, _ in hashes) == ["", *sorted(set(granted.values()))]
    assert len({blueprint for _, blueprint in hashes}) == len(hashes)


@pytest.mark.req("SBX-2", "SBX-6")
def test_every_hostile_call_was_served_by_a_process_of_its_own_seen_confined(
    privilege: Privilege, campaigns: Campaigns
) -> None:
    seen: list[dict[str, Any]] = [told["evidence"]["process"] for told in campaigns.jailed(privilege).values()]
    assert {(one["seccomp"], one["no_new_privileges"], one["capabilities"]) for one in seen} == {(2, 1, "0")}
    assert {one["pids"][-1] for one in seen} == {1}
    assert len({one["pid"] for one in seen}) == len(seen)


@pytest.mark.req("SBX-9")
def test_no_call_lasts_twice_its_deadline(privilege: Privilege, campaigns: Campaigns) -> None:
    lasted = {probe: told["effects"]["wall_seconds"] for probe, told in campaigns.jailed(privilege).items()}
    assert {probe: seconds for probe, seconds in lasted.items() if seconds > 2 * _WALL_SECONDS} == {}


@pytest.mark.req("SBX-9")
def test_hostile_calls_leave_nothing_on_the_host(privilege: Privilege, campaigns: Campaigns) -> None:
    assert campaigns.host_afterwards(privilege) == campaigns.host_before(privilege)


@pytest.mark.req("SBX-3")
def test_no_reply_of_a_hostile_tool_holds_the_secret(privilege: Privilege, campaigns: Campaigns) -> None:
    assert campaigns.secret not in str(campaigns.jailed(privilege))
