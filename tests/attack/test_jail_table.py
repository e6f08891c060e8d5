"""Every row of the table: the hostile tool is stopped as the table says, and succeeds where there is no jail."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.attack.conftest import Told, require_told
from tests.attack.row import MECHANISMS, Privilege, Row, read_expectation
from tests.attack.table import TABLE

pytestmark = pytest.mark.req("SBX-3")

_ANSWER = re.compile(r"\bE[A-Z0-9]{2,}\b")
_STILL_STOPPED = re.compile(r"=E[A-Z0-9]{2,}\b")
_every_row = pytest.mark.parametrize("row", TABLE, ids=[row.probe for row in TABLE])


@_every_row
def test_a_hostile_tool_is_stopped_as_the_table_says(row: Row, privilege: Privilege, jailed: Told) -> None:
    told = jailed[row.probe]
    print(told)
    stop = read_expectation(row.expected[privilege])
    if stop is None:
        assert (told["status"], told["code"]) == ("failed", row.expected[privilege]), told
        return
    assert (told["status"], told["outcome"]) == ("completed", "stopped"), told
    if stop.answers:
        assert set(_ANSWER.findall(told["detail"])) <= stop.answers, told


@_every_row
def test_the_same_try_succeeds_without_the_jail(
    row: Row, privilege: Privilege, unjailed: Told, campaigns: dict[str, Told]
) -> None:
    if row.control[privilege] == "probe by root":
        unjailed = require_told(campaigns["controls root"])
    told = unjailed[row.probe]
    assert told["outcome"] == "succeeded", told
    assert not _STILL_STOPPED.search(told["detail"]), told


@pytest.mark.req("SBX-6")
def test_every_call_bears_evidence_of_one_and_the_same_jail(jailed: Told) -> None:
    hashes = {_evidence(told)["blueprint"] for told in jailed.values()}
    assert len(hashes) == 1, hashes


def _evidence(told: dict[str, Any]) -> dict[str, Any]:
    evidence: dict[str, Any] = told["evidence"]
    return evidence


def test_every_row_names_a_known_mechanism_or_a_code() -> None:
    from ringfence.errors import CODES

    for row in TABLE:
        for text in row.expected.values():
            stop = read_expectation(text)
            assert text in CODES if stop is None else stop.mechanism in MECHANISMS, (row.probe, text)
            assert row.probe.startswith(f"line_{row.line:03}_")
