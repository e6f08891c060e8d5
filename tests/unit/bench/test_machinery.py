"""Benches are found by their files, run in the real interpreter, and a peer that is absent is said to be."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from bench.__main__ import folders, load, main, names
from bench.harness.python import Fresh, can_import, real_binary
from bench.harness.worker import Worker, WorkerLost, find_peer

pytestmark = pytest.mark.req("HOUSE-11")


def test_every_plain_file_is_a_bench() -> None:
    folder = Path(__file__).parents[3] / "bench"
    assert names() == sorted(file.stem for file in folder.glob("*.py") if not file.stem.startswith("__"))
    assert {"decision", "growth", "startup"} <= set(names())


@pytest.mark.parametrize("name", names())
def test_every_bench_has_a_title_and_something_to_measure(name: str) -> None:
    bench = load(name)
    assert bench.title.endswith(".")
    assert callable(bench.measure)


def test_an_unknown_bench_is_named_beside_those_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["no_such"]) == 2
    assert capsys.readouterr().err == f"there is no bench `no_such`; there are {', '.join([*names(), *folders()])}\n"


def test_the_real_interpreter_is_no_script_and_no_link() -> None:
    found = real_binary(sys.executable)
    assert Path(found).read_bytes()[:4] == b"\x7fELF"
    assert os.path.realpath(found) == found


def test_a_shim_is_not_taken_for_the_interpreter(tmp_path: Path) -> None:
    shim = tmp_path / "python"
    shim.write_text("#!/bin/sh\nexec python3\n")
    assert real_binary(str(shim)) == real_binary(sys.executable)


def test_a_fresh_process_has_the_packages_of_its_environment() -> None:
    side = Fresh(name="a", arguments=("-I", "-c", "import sys, pydantic; print(len(sys.prefix))"), timed="inside")
    assert side.times(1) == [len(sys.prefix)]


def test_a_module_that_no_environment_has_is_no_peer() -> None:
    assert not can_import("no_such_peer")
    assert find_peer("no_such_peer") is None
    assert find_peer("json") == sys.executable


def test_a_worker_times_its_own_calls() -> None:
    with Worker("bench.sides.decision_ringfence") as worker:
        side = worker.side("authorize by_tool", name="ours")
        assert len(side.times(3)) == 3
        assert side.pace(0.001).calls > 0


def test_a_side_of_jailed_calls_tells_who_served_the_last_of_them() -> None:
    with Worker("bench.sides.jailed") as worker:
        side = worker.side("dry", name="ours")
        told: list[str] = []
        for _ in range(2):
            side.times(1)
            told.append(side.evidence())
    assert all(re.match(r"in sha256:[0-9a-f]{64} by \{'pid': \d+, .*'seccomp': 2,", each) for each in told)
    assert told[0] != told[1]


def test_a_worker_that_ends_is_an_error() -> None:
    with Worker("bench.sides.world") as worker, pytest.raises((WorkerLost, BrokenPipeError)):
        worker.side("anything", name="a").times(1)
