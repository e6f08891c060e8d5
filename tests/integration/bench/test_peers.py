"""The comparison really runs: three probes without a sandbox, in ours, and in bubblewrap where there is one."""

from __future__ import annotations

import pytest
from bench.peers.__main__ import measured
from bench.peers.bubblewrap import BUBBLEWRAP
from bench.peers.comparison import CONTROL, OURS, possible
from bench.peers.peer import Absent, look_for
from bench.peers.report import Report

pytestmark = pytest.mark.req("HOUSE-11")

PROBES = ("line_002_absolute", "line_031_dial_the_host", "line_060_unlisted_program")
# It hides files and the network, and runs programs.
IN_BUBBLEWRAP = {PROBES[0]: "stopped", PROBES[1]: "stopped", PROBES[2]: "works"}


@pytest.fixture(scope="module")
def report() -> Report:
    return measured(only=PROBES, peers=[BUBBLEWRAP.name], privileges=possible()[:1])


def cells(report: Report, column: str) -> dict[str, str]:
    return {probe.name: report.matrix.cell(probe, column) for probe in report.matrix.probes}


def test_each_try_works_without_a_sandbox_and_is_stopped_in_ours(report: Report) -> None:
    assert cells(report, CONTROL) == dict.fromkeys(PROBES, "works")
    assert cells(report, OURS) == dict.fromkeys(PROBES, "stopped")


def test_the_same_probes_run_in_bubblewrap_or_it_is_named_as_missing(report: Report) -> None:
    looked = look_for(BUBBLEWRAP)
    if isinstance(looked, Absent):
        assert looked in report.absent
        assert f"bubblewrap: not compared: {looked.reason}" in report.text()
        return
    assert cells(report, BUBBLEWRAP.name) == IN_BUBBLEWRAP, report.json()
