"""Every library on a machine without namespaces: it reaches the listed host, and the unlisted one hears nothing."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.integration.edge.beside import port_to
from tests.integration.edge.matrix import ROWS, Row, expected
from tests.integration.sandbox.test_confined import LAUNCHER, PYTHON, ROOT, Who, as_whom, environment

pytestmark = pytest.mark.req("NET-1", "NET-2", "NET-5", "NET-6", "SBX-6")

PROGRAM = Path(__file__).parent / "in_confinement.py"
MACHINES: tuple[tuple[Who, int], ...] = (("root", 7), ("user", 7), ("user", 1))
SECONDS = 180


def run_confined(who: Who, landlock: int, program: Path, *arguments: str, after: Sequence[str] = ()) -> Any:
    """What a program printed that ran as this user on a machine without namespaces; `after` is a command to begin."""
    around = environment()
    around["PYTHONPATH"] += f":{ROOT}"
    launching = [PYTHON, "-P", str(LAUNCHER), "--without", "namespaces", "--landlock", str(landlock)]
    done = subprocess.run(
        [*after, *launching, str(program), *arguments],
        env=around, cwd="/", capture_output=True, text=True, check=False, timeout=SECONDS, **as_whom(who),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module", name="told", params=MACHINES, ids=[f"{who}, Landlock {abi}" for who, abi in MACHINES])
def what_each_row_came_to(request: pytest.FixtureRequest, cluster: Cluster) -> dict[str, Any]:
    who, landlock = request.param
    with port_to(cluster.folder / ".s.PGSQL.5432") as port:
        told: dict[str, Any] = run_confined(who, landlock, PROGRAM, "libraries", str(port))
        return told


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_a_library_reaches_the_listed_host_and_the_other_hears_nothing(told: dict[str, Any], row: Row) -> None:
    assert told[row.name] == expected(row, posture="confined")


def test_a_letter_arrives_whole(told: dict[str, Any]) -> None:
    (letter,) = told["letters"]
    assert letter.endswith("\r\n\r\nhello\r\n.\r\n")


@pytest.mark.req("NET-4")
@pytest.mark.parametrize(("who", "landlock"), MACHINES)
def test_what_is_not_granted_is_refused_in_a_real_jail(who: Who, landlock: int) -> None:
    assert run_confined(who, landlock, PROGRAM, "attempts") == {
        "calls": ["Operation not permitted"],
        "early": ["ENOSYS", "ECONNREFUSED"],
        "closed": ["ConnectionRefusedError"],
        "stay": "Operation not permitted",
        "asked": [],
        "dialled": [],
        "heard": 0,
        "answering": "the tool's module cannot be imported: RuntimeError: the kernel says ['EPERM', 'EPERM']",
    }


def test_a_host_that_may_not_look_at_what_its_jails_dial_lets_none_out() -> None:
    """As root in a container without CAP_SYS_PTRACE."""
    without = ("setpriv", "--bounding-set", "-sys_ptrace", "--inh-caps", "-all")
    told = run_confined("root", 7, PROGRAM, "attempts", after=without)
    assert (told["closed"], told["early"], told["heard"]) == (["not_enforceable"], "not_enforceable", 0)
    assert told["stay"] == "Operation not permitted"
