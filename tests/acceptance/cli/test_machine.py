"""`doctor` and `tour`: what this machine can do, and everything once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.cli.typed import typed

pytestmark = pytest.mark.req("OPS-1")


def test_doctor_tries_each_mechanism_and_gives_a_remedy_for_each_that_is_missing(tmp_path: Path) -> None:
    came = typed("doctor", "--json", cwd=tmp_path)
    found = {each["name"]: each for each in came.document["findings"]}
    assert {"landlock", "seccomp", "openat2", "user namespace", "pid namespace", "cgroup memory"} <= found.keys()
    assert all(each["works"] is (each["missing"] is None) for each in found.values())
    assert [name for name, each in found.items() if not each["works"] and not each["remedy"]] == []
    needed = [each["works"] for each in found.values() if each["needed"]]
    assert came.code == (0 if all(needed) else 1)
    assert came.document["posture"] == ("full" if all(needed) else None)


def test_doctor_for_people_says_whether_tools_can_be_jailed(tmp_path: Path) -> None:
    came = typed("doctor", cwd=tmp_path)
    assert ("tools can be jailed here" in came.out) is (came.code == 0)


@pytest.mark.req("POL-1", "VIEW-2", "APR-1", "AUD-2")
def test_the_tour_shows_every_station_and_removes_its_folder(tmp_path: Path) -> None:
    came = typed("tour", cwd=tmp_path, TMPDIR=str(tmp_path))
    assert (came.code, came.err) == (0, "")
    for station in range(1, 8):
        assert f"\n{station}. " in came.out
    assert "IT WORKED" not in came.out
    assert "refused [tool_not_found] no such tool" in came.out
    assert "dan approves: 2 of 2 votes, approved" in came.out
    assert "What comes next" in came.out
    assert list(tmp_path.iterdir()) == []
    assert "\x1b" not in came.out
