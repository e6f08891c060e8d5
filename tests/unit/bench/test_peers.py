"""The comparison counts what was said: a sandbox that did not start stopped nothing, and nobody is left out."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path

import pytest
from bench.harness.sides import Local
from bench.peers import inside, peer
from bench.peers.bubblewrap import BUBBLEWRAP
from bench.peers.chosen import CANDIDATES, CHOSEN, KINDS, LEFT_OUT, OWN_MAKING
from bench.peers.comparison import CONTROL, OURS
from bench.peers.matrix import Matrix
from bench.peers.noop import ROUNDS, interleaved
from bench.peers.page import BEGINS, ENDS, replaced, section_of
from bench.peers.peer import Absent, Found, look_for
from bench.peers.peers import PEERS
from bench.peers.report import Report
from bench.peers.verdict import Judged, Said, judge, judge_fairly, judge_ours

from tests.acceptance.docs.pages import ROOT
from tests.attack.row import PRIVILEGES

pytestmark = pytest.mark.req("HOUSE-11")

STARTED = f"\n{inside.ABOUT_TO_TRY}\n"
STOPPED, WORKS = Judged(verdict="stopped", detail="EPERM"), Judged(verdict="works", detail="done")


def came_to(outcome: str) -> str:
    return STARTED + inside.CAME_TO + json.dumps({"outcome": outcome, "detail": "why"}) + "\n"


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        (Said(status=0, out=came_to("succeeded"), err=""), "works"),
        (Said(status=0, out=came_to("stopped"), err=""), "stopped"),
        (Said(status=0, out=came_to("raised"), err=""), "cannot run"),
        (Said(status=-31, out=STARTED, err=""), "stopped"),
        (Said(status=None, out=STARTED, err=""), "cannot run"),
        (Said(status=1, out="", err="no such option\n"), "cannot run"),
        (Said(status=0, out="@came too late\n", err=""), "cannot run"),
        (Said(status=1, out="noise " + inside.CAME_TO + "{}\n", err=""), "cannot run"),
    ],
)
def test_a_verdict_follows_from_what_was_printed(said: Said, verdict: str) -> None:
    assert judge(said).verdict == verdict


def test_a_sandbox_that_does_not_start_says_why() -> None:
    assert judge(Said(status=1, out="", err="a\nno such option\n\n")).detail == "did not start: no such option"


def test_a_run_that_took_too_long_is_not_said_to_have_failed_to_start() -> None:
    assert judge(Said(status=None, out="", err="")).detail == "no answer in time"


def test_the_answer_counts_although_the_sandbox_was_ended_afterwards() -> None:
    assert judge(Said(status=None, out=came_to("succeeded"), err="")).verdict == "works"


@pytest.mark.parametrize(
    ("told", "verdict"),
    [
        ({"status": "completed", "code": None, "outcome": "stopped", "detail": "EPERM"}, "stopped"),
        ({"status": "completed", "code": None, "outcome": "succeeded", "detail": "done"}, "works"),
        ({"status": "failed", "code": "memory_limit", "outcome": None, "detail": "m"}, "stopped"),
        ({"status": "failed", "code": "tool_error", "outcome": None, "detail": "m"}, "cannot run"),
        ({"status": "refused", "code": "memory_limit", "outcome": None, "detail": "m"}, "cannot run"),
    ],
)
def test_a_failed_call_of_ours_counts_as_stopped_by_the_awaited_code_alone(
    told: dict[str, str | None], verdict: str
) -> None:
    assert judge_ours(told, expected="memory_limit").verdict == verdict


@pytest.mark.parametrize(
    ("detail", "verdict"),
    [
        ("connect=ECONNREFUSED datagram_pair=done", "stopped"),
        ("connect=done datagram_pair=done", "works"),
        ("connect=done connected datagram_pair=EPERM", "works"),
        ("/home=done 0 names /opt=ENOENT", "stopped"),
        ("/home=done 0 names /opt=done 3 names", "works"),
    ],
)
def test_what_may_be_of_a_sandboxs_own_making_does_not_count_against_it(detail: str, verdict: str) -> None:
    own_making = {"datagram_pair", "done 0 names"}
    assert judge_fairly(Judged(verdict="works", detail=detail), own_making=own_making).verdict == verdict


def test_without_anything_of_its_own_making_a_verdict_stays() -> None:
    for judged in (Judged(verdict="works", detail="done 700 MiB"), STOPPED):
        assert judge_fairly(judged, own_making=()) == judged
    assert set(OWN_MAKING) <= {probe.name for probe in CHOSEN}
    assert all(reason for _, reason in OWN_MAKING.values())


def test_a_folder_that_cannot_be_written_is_no_sandbox_to_try_in(tmp_path: Path) -> None:
    order: dict[str, object] = {
        "path": [],
        "scratch": str(tmp_path / "absent"),
        "module": "kernel",
        "probe": "x",
        "canaries": {},
    }
    words = [sys.executable, "-I", inside.__file__, json.dumps(order)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert judge(Said(status=done.returncode, out=done.stdout, err=done.stderr)).verdict == "cannot run"


def test_every_attack_is_tried_or_left_out_with_a_reason() -> None:
    tried = {probe.name for probe in CHOSEN}
    assert tried | set(LEFT_OUT) == {row.probe for row in CANDIDATES}
    assert not tried & set(LEFT_OUT)
    assert all(LEFT_OUT.values())
    assert len(tried) >= 60
    assert {probe.kind for probe in CHOSEN} == set(KINDS)


def matrix() -> Matrix:
    """Three probes: one that works in ours as root, one that is stopped, one without a control for the user."""
    first, second, third = CHOSEN[:3]
    names = [probe.name for probe in (first, second, third)]
    return Matrix(
        probes=(first, second, third),
        told={
            "root": {
                CONTROL: dict.fromkeys(names, WORKS),
                OURS: {first.name: WORKS, second.name: STOPPED, third.name: STOPPED},
            },
            "user": {
                CONTROL: {first.name: WORKS, second.name: STOPPED},
                OURS: dict.fromkeys(names, STOPPED),
            },
        },
    )


def test_a_cell_tells_for_whom_a_try_works() -> None:
    made = matrix()
    assert [made.cell(probe, OURS) for probe in made.probes] == ["works as root", "stopped", "stopped"]
    assert [made.cell(probe, CONTROL) for probe in made.probes] == ["works", "works as root", "works"]
    assert made.cell(made.probes[0], "a peer that was not there") == "-"


def test_what_works_in_ours_and_what_has_no_control_is_named() -> None:
    made = matrix()
    assert made.working_in_ours() == [made.probes[0].name]
    assert made.without_control() == []
    assert made.count(OURS, privilege="root") == {"works": 1, "stopped": 2}
    assert made.count(CONTROL, privilege="user") == {"works": 1, "stopped": 1}


def report() -> Report:
    return Report(
        matrix=matrix(),
        found=[Found(peer=BUBBLEWRAP, version="0.0")],
        absent=[Absent(name="nsjail", reason="nobody has it")],
        machine="a machine",
        date="2020-01-01",
        version="0.0",
    )


def test_the_table_has_every_probe_the_counts_and_who_is_missing() -> None:
    text = report().text()
    assert "nsjail: not compared: nobody has it" in text
    assert f"works in Ringfence, each a defect: {matrix().probes[0].name}" in text
    assert all(probe.words in text for probe in matrix().probes)
    assert "Ringfence | root | 1 of 3" in text
    assert json.loads(report().json())["absent"] == {"nsjail": "nobody has it"}


def test_the_page_has_a_note_for_what_a_peer_is_not_meant_to_stop() -> None:
    written = report().markdown()
    assert "Not compared: nsjail (nobody has it)." in written
    assert f"- bubblewrap {BUBBLEWRAP.not_meant['share']}" in written
    tables = [line for line in written.splitlines() if line.startswith("| ")]
    assert "| 1 climb | works | works as root |" in tables


def test_a_section_is_replaced_between_its_marks_and_nowhere_else() -> None:
    page = f"before\n\n{BEGINS}\nold\n{ENDS}\n\nafter\n"
    assert replaced(page, section="new") == f"before\n\n{BEGINS}\n\nnew\n\n{ENDS}\n\nafter\n"
    assert section_of(replaced(page, section="new")) == "new"


@pytest.mark.parametrize("page", ["", BEGINS, ENDS, f"{ENDS}{BEGINS}", f"{BEGINS}{ENDS}{BEGINS}{ENDS}"])
def test_a_page_without_both_marks_is_left_alone(page: str) -> None:
    with pytest.raises(ValueError, match="both marks"):
        replaced(page, section="new")


def test_an_absent_peer_is_named_with_the_words_of_whoever_tried_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = replace(BUBBLEWRAP, name="nowhere", program="no-such-sandbox")
    monkeypatch.setattr(peer, "REFUSED", tmp_path)
    remedy = "`no-such-sandbox` is not installed; `scripts/bench_peers` installs what it can"
    assert look_for(nowhere) == Absent(name="nowhere", reason=remedy)
    (tmp_path / "nowhere").write_text("nobody packages it\n")
    assert look_for(nowhere) == Absent(name="nowhere", reason="nobody packages it")


def test_a_peer_that_lacks_what_it_needs_is_absent_too() -> None:
    found = look_for(replace(BUBBLEWRAP, program="sh", needs=("no-such-proxy",)))
    assert found == Absent(
        name="bubblewrap", reason="`no-such-proxy` is not installed; `scripts/bench_peers` installs what it can"
    )


def test_every_peer_says_how_it_is_set_up_and_where_that_is_written() -> None:
    assert len({each.name for each in PEERS}) == len(PEERS) >= 7
    assert all(each.configuration and each.documented and all(each.not_meant.values()) for each in PEERS)


def test_ours_and_the_peers_take_turns_and_ours_has_200_calls() -> None:
    log: list[str] = []
    ours, theirs = (Local(name=name, function=partial(log.append, name)) for name in ("ours", "theirs"))
    taken = interleaved(ours, [theirs])
    assert (len(taken["ours"].ordered), len(taken["theirs"].ordered)) == (200, ROUNDS)
    assert [name for name, _ in groupby(log)][:4] == ["ours", "theirs", "ours", "theirs"]


def test_the_threat_model_holds_a_comparison_in_which_nothing_works_in_ours() -> None:
    section = section_of((ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8"))
    kinds = Counter(probe.kind for probe in CHOSEN)
    none_works = " | ".join(f"0 of {kinds[kind]}" for kind in KINDS)
    for privilege in PRIVILEGES:
        assert f"| {OURS} | {privilege} | {none_works} | {len(CHOSEN)} | 0 | 0 |" in section.splitlines()
    assert all(f"| {probe.words} | works" in section for probe in CHOSEN)
