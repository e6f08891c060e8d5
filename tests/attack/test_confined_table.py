"""Every hostile tool again, where there are no namespaces: stopped as the second table says, at each Landlock version.

Without the jail the same tries succeed: `test_jail_table.py` shows that for both tables.
"""

from __future__ import annotations

import functools
import re
from typing import Any

import pytest

from ringfence.errors import CODES
from tests.attack.confined_table import (
    DIFFERENT,
    NEWEST,
    NOT_ENFORCEABLE,
    NOTHING_TO_BEGIN_WITH,
    OFTEN,
    VERSIONS,
    WITH_FILES,
    expected_confined,
    tried_confined,
)
from tests.attack.confinement import run_confined
from tests.attack.conftest import Told, possible
from tests.attack.row import MECHANISMS, Privilege, read_expectation
from tests.attack.rows_granted_files import SUFFIX
from tests.attack.table import TABLE

pytestmark = [pytest.mark.req("SBX-3", "SBX-6"), pytest.mark.xdist_group("confined")]

_ANSWER = re.compile(r"\bE[A-Z0-9]{2,}\b")
_REFUSED_BY_LANDLOCK = "PermissionError: [Errno 13]"
_CASES = [
    pytest.param(
        privilege, version, id=f"{privilege}-landlock_{version}", marks=() if version in OFTEN else (pytest.mark.long,)
    )
    for version in VERSIONS
    for privilege in possible()
]


@functools.cache
def campaign(privilege: Privilege, version: int) -> tuple[str, Told]:
    return run_confined(privilege, version=version)


def _problem(told: dict[str, Any], expected: str) -> str | None:
    """How what became of a probe differs from what is expected; None where it does not."""
    came, detail = (told["status"], told["code"], told["outcome"]), str(told["detail"])
    if expected == NOTHING_TO_BEGIN_WITH:
        begun = came[:2] != ("failed", "tool_error") or not detail.startswith(_REFUSED_BY_LANDLOCK)
        return f"{came} {detail}" if begun else None
    stop = read_expectation(expected)
    if stop is None:
        return None if came[:2] in (("failed", expected), ("refused", expected)) else f"{came} {detail}"
    if came != ("completed", None, "stopped"):
        return f"{came} {detail}"
    strange = set(_ANSWER.findall(detail)) - stop.answers
    return f"{came} {detail}" if stop.answers and strange else None


@pytest.mark.parametrize(("privilege", "version"), _CASES)
def test_every_hostile_tool_is_stopped_as_the_second_table_says(privilege: Privilege, version: int) -> None:
    told = campaign(privilege, version)[1]["rows"]
    rows = [row for row in tried_confined() if row.pace == "quick" or version == NEWEST]
    problems = {row.probe: _problem(told[row.probe], expected_confined(row, privilege)) for row in rows}
    assert {probe: problem for probe, problem in problems.items() if problem} == {}


@pytest.mark.parametrize(("privilege", "version"), _CASES)
def test_every_hostile_call_was_served_by_a_confined_process_of_its_own(privilege: Privilege, version: int) -> None:
    served = [row["evidence"] for row in campaign(privilege, version)[1]["rows"].values() if row["evidence"]]
    assert len(served) > len(tried_confined()) // 2
    assert {one["posture"] for one in served} == {"confined"}
    # One for tools without needs, one for those with files.
    assert len({one["blueprint"] for one in served}) == 2
    seen = [one["process"] for one in served]
    assert {(one["seccomp"], one["no_new_privileges"], one["capabilities"]) for one in seen} == {(2, 1, "0")}
    assert len({one["pid"] for one in seen}) == len(seen)


@pytest.mark.parametrize(("privilege", "version"), _CASES)
def test_hostile_calls_leave_nothing_and_learn_no_secret(privilege: Privilege, version: int) -> None:
    secret, told = campaign(privilege, version)
    assert told["afterwards"] == told["before"]
    assert secret not in str(told["rows"])


def test_every_expectation_names_a_known_mechanism_or_a_code() -> None:
    assert set(DIFFERENT) <= {row.probe for row in TABLE}
    assert {probe + SUFFIX for probe in WITH_FILES} <= {row.probe for row in TABLE}
    for text in (*DIFFERENT.values(), *WITH_FILES.values(), NOT_ENFORCEABLE):
        stop = read_expectation(text)
        known = text == NOTHING_TO_BEGIN_WITH or (text in CODES if stop is None else stop.mechanism in MECHANISMS)
        assert known, text
