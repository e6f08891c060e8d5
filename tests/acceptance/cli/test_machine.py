"""`doctor` and `tour`: what this machine can do, and everything once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ringfence.kernel.trials import TRIALS
from ringfence.sandbox.enforceable import HOLDINGS
from tests.acceptance.cli.typed import ENVIRONMENT, PROGRAM, typed

LAUNCHER = Path(__file__).parents[2] / "attack" / "launcher.py"

pytestmark = pytest.mark.req("OPS-1")


def test_doctor_tries_each_mechanism_and_gives_a_remedy_for_each_that_is_missing(tmp_path: Path) -> None:
    came = typed("doctor", "--json", cwd=tmp_path)
    found = {each["name"]: each for each in came.document["findings"]}
    assert {trial.name for trial in TRIALS} | {"cgroup memory", "cgroup pids"} <= found.keys()
    assert all(each["works"] is (each["missing"] is None) for each in found.values())
    assert [name for name, each in found.items() if not each["works"] and not each["remedy"]] == []
    missing = [posture for each in found.values() if not each["works"] for posture in each["needed_for"]]
    assert came.document["posture"] == next((one for one in ("full", "confined") if one not in missing), None)
    assert came.code == {"full": 0, "confined": 6, None: 1}[came.document["posture"]]


@pytest.mark.req("SBX-6")
@pytest.mark.parametrize(
    ("refused", "posture", "code"),
    [("namespaces", "confined", 6), ("mounts", "confined", 6), ("landlock", None, 1), ("seccomp", None, 1)],
)
def test_doctor_says_which_posture_is_left_and_how_to_get_the_other(
    tmp_path: Path, refused: str, posture: str | None, code: int
) -> None:
    done = subprocess.run(
        [sys.executable, str(LAUNCHER), "--without", refused, PROGRAM, "doctor", "--json"],
        env=ENVIRONMENT, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    told = json.loads(done.stdout)
    assert told["posture"] == posture
    missing = {each["name"]: each["remedies"] for each in told["findings"] if not each["works"] and each["needed"]}
    assert missing
    assert all("any" in remedies for remedies in missing.values())
    needs = {each["need"]: each["state"] for each in told["needs"]}
    assert needs == ({row.need: row.state for row in HOLDINGS} if posture == "confined" else {})


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
