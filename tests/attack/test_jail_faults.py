"""A jail that cannot be built whole runs nothing: each call that builds it fails, or claims a success (line 115)."""

from __future__ import annotations

import pytest

from tests.attack.conftest import NO_FAULT, Campaigns, faults_for, possible
from tests.attack.fault_table import Fault
from tests.attack.row import Privilege

pytestmark = pytest.mark.req("SBX-6")

_PAIRS: list[tuple[Fault, Privilege]] = [
    (fault, privilege) for privilege in possible() for fault in faults_for(privilege)
]


@pytest.mark.parametrize(("fault", "privilege"), _PAIRS, ids=[f"{p}-line_115_{f.name}" for f, p in _PAIRS])
def test_no_tool_runs_in_a_jail_that_lacks_a_part(fault: Fault, privilege: Privilege, campaigns: Campaigns) -> None:
    told = campaigns.faulty(privilege)[fault.name]
    expected = "completed" if privilege in fault.survived else "refused"
    assert told.get("status") == expected, told


def test_the_same_call_runs_where_nothing_is_missing(privilege: Privilege, campaigns: Campaigns) -> None:
    assert campaigns.faulty(privilege)[NO_FAULT]["status"] == "completed"
