"""Every row of the table: the hostile tool is stopped as the table says, and succeeds where there is no jail."""

from __future__ import annotations

import re

import pytest

from ringfence.errors import CODES
from tests.attack.conftest import Campaigns, possible
from tests.attack.row import MECHANISMS, Privilege, Row, read_expectation
from tests.attack.table import TABLE

pytestmark = pytest.mark.req("SBX-3")

_ANSWER = re.compile(r"\bE[A-Z0-9]{2,}\b")
_STILL_STOPPED = re.compile(r"=E[A-Z0-9]{2,}\b")
_Pairs = list[tuple[Row, Privilege]]
_PAIRS: _Pairs = [(row, privilege) for privilege in possible() for row in TABLE]
# What only root can show is shown where the tests run as root.
_CONTROLS: _Pairs = [pair for pair in _PAIRS if "root" in possible() or pair[0].control["user"] != "probe by root"]


def _named(pairs: _Pairs) -> list[str]:
    return [f"{privilege}-{row.probe}" for row, privilege in pairs]


@pytest.mark.parametrize(("row", "privilege"), _PAIRS, ids=_named(_PAIRS))
def test_a_hostile_tool_is_stopped_as_the_table_says(row: Row, privilege: Privilege, campaigns: Campaigns) -> None:
    told = campaigns.jailed(privilege)[row.probe]
    print(told)
    stop = read_expectation(row.expected[privilege])
    if stop is None:
        assert (told["status"], told["code"]) == ("failed", row.expected[privilege]), told
        return
    assert (told["status"], told["outcome"]) == ("completed", "stopped"), told
    assert not stop.answers or set(_ANSWER.findall(told["detail"])) <= stop.answers, told


@pytest.mark.parametrize(("row", "privilege"), _CONTROLS, ids=_named(_CONTROLS))
def test_the_same_try_succeeds_without_the_jail(row: Row, privilege: Privilege, campaigns: Campaigns) -> None:
    by: Privilege = "root" if row.control[privilege] == "probe by root" else privilege
    told = campaigns.unjailed(by)[row.probe]
    assert told["outcome"] == "succeeded", told
    assert not _STILL_STOPPED.search(told["detail"]), told


def test_every_row_names_a_known_mechanism_or_a_code() -> None:
    for row in TABLE:
        assert row.probe.startswith(f"line_{row.line:03}_")
        for text in row.expected.values():
            stop = read_expectation(text)
            assert text in CODES if stop is None else stop.mechanism in MECHANISMS, (row.probe, text)
