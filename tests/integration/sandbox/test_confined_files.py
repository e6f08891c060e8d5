"""Granted files without namespaces: read and written beneath the grant, and nowhere else, at every Landlock version."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.integration.sandbox.conftest import NOBODY
from tests.integration.sandbox.test_confined import HERE, LAUNCHER, PYTHON, SECONDS, Who, as_whom, environment

pytestmark = pytest.mark.req("SBX-4", "SBX-6")

OWNER = 1234
REFER_SINCE, TRUNCATE_SINCE = 2, 3
_CLOSED, _NO_CALL, _ACROSS = "Permission denied", "Operation not permitted", "Invalid cross-device link"


FOLDER = Path(os.environ.get("RINGFENCE_CORPORA", Path(__file__).resolve().parents[4] / "shared" / "corpora"))
# The last two are a process's own pipe and its own channel, by their names in /proc.
ERRORS = {"EACCES", "EISDIR", "ELOOP", "ENAMETOOLONG", "ENOENT", "ENOTDIR", "ValueError", "EAGAIN", "ENXIO"}


def told_by(words: str, *more: str, who: Who, landlock: int, given: object = None) -> dict[str, Any]:
    """What the program in confinement printed."""
    limits = ["--without", "namespaces", "--landlock", str(landlock)]
    command = [PYTHON, "-P", str(LAUNCHER), *limits, str(HERE / "in_confinement_files.py"), words, *more]
    done = subprocess.run(
        command, input=json.dumps(given), env=environment(), cwd="/", capture_output=True, text=True, check=False,
        timeout=SECONDS, **as_whom(who),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def attempts_at(landlock: int) -> dict[str, str]:
    """How each attempt of `filing.attempt` ends; an older Landlock leaves some of them to the filter."""
    by_name = _CLOSED if landlock >= TRUNCATE_SINCE else _NO_CALL
    return {
        **dict.fromkeys(("write what is read", "add to what is read", "write the workspace", "link"), _CLOSED),
        **dict.fromkeys(("cut what is read", "move out", "move in", "rename what is read", "climb"), _CLOSED),
        **dict.fromkeys(("list the workspace", "another agent's"), _CLOSED),
        **dict.fromkeys(("permit", "re-date", "pipe", "device", "copy with times"), _NO_CALL),
        "copy": "done",
        **dict.fromkeys(("cut by name", "cut while opening"), by_name),
        "hard link": _ACROSS,
        "move between": "done" if landlock >= REFER_SINCE else _ACROSS,
    }


@pytest.mark.req("SBX-8", "CON-12")
@pytest.mark.parametrize("who", ["root", "user"])
@pytest.mark.parametrize(
    "landlock", [1, pytest.param(3, marks=pytest.mark.long), pytest.param(5, marks=pytest.mark.long), 7]
)
def test_granted_files_are_read_and_written_and_nothing_else_is(who: Who, landlock: int) -> None:
    moved = landlock >= REFER_SINCE
    assert told_by("calls", who=who, landlock=landlock) == {
        "posture": "confined",
        "uid": NOBODY if who == "user" else OWNER,
        "read": ["ana knowledge"] * 4,
        "unreachable": ["path_not_reachable"],
        "wrote": [["inner", "one"], {"written": ["outbox/one"], "removed": [], "coverage": "whole"}],
        "owner": True,
        "awaited": "2",
        "start": True,
        "removed": {"written": [], "removed": ["outbox/one"], "coverage": "whole"},
        "single": ["ana knowledge", *[_CLOSED] * 4],
        "attempts": attempts_at(landlock),
        "listed": [["knowledge", "outbox"], [] if moved else ["a"]],
        "ben": "ben knowledge",
        "too_large": "File too large",
        "during import": 64 << 20,
        "replaced": ["another", "ana knowledge"],
        "untouched": "ana knowledge",
        "left": ["copy", "inner", "moved", "two"] if moved else ["copy", "inner", "two"],
    }


def test_root_serves_no_files_of_root_of_two_owners_or_that_their_owner_has_no_way_to() -> None:
    told = told_by("refusals", who="root", landlock=7)
    assert told.pop("before") == "ana knowledge"
    code, why = told.pop("another owner's way")
    assert (code, "has no way through" in why) == ("posture_insufficient", True)
    assert {name: (code, remedy) for name, (code, _, remedy) in told.items()} == {
        "two owners": ("not_enforceable", True),
        "root": ("not_enforceable", True),
    }
    assert "belongs to root" in told["root"][1]
    assert "belongs to several" in told["two owners"][1]


def corpora() -> list[Any]:
    """The data as one parameter, so that a run shows at a glance whether it was there; it is not the project's."""
    names = ("traversal.jsonl", "paths_benign.jsonl")
    return [pytest.param(names, id="corpora")] if all((FOLDER / name).is_file() for name in names) else []


def paths_of(name: str) -> list[str]:
    rows = [json.loads(line)["path"] for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]
    return [row.replace("{FILE}", "etc/passwd") for row in rows]


@pytest.mark.parametrize("landlock", [1, 7])
@pytest.mark.parametrize("names", corpora())
def test_no_hostile_path_is_read_and_every_harmless_one_is_kept(names: tuple[str, str], landlock: int) -> None:
    given = dict(zip(("traversal", "benign"), map(paths_of, names), strict=True))
    told = told_by("corpora", who="user", landlock=landlock, given=given)
    reached = told["reached"]
    assert set(reached["plain"]) <= ERRORS
    assert set(reached["asked"]) <= ERRORS | {"not reachable"}
    assert told["lost"] == []


@pytest.mark.parametrize("landlock", [1, 7])
@pytest.mark.parametrize(
    "rounds", [pytest.param(300, id="300"), pytest.param(10_000, id="10000", marks=pytest.mark.long)]
)
def test_a_folder_that_becomes_a_link_never_leads_out_of_what_was_granted(rounds: int, landlock: int) -> None:
    told = told_by("races", str(rounds), who="user", landlock=landlock)
    # Walked step by step, a name that was a folder a moment ago may be a link by now, which is not followed.
    assert set(told["seen"]) <= {"inside", "EACCES", "not reachable", "ENOTDIR"}
    assert told["control"] is True
