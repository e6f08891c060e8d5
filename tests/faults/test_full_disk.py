"""A disk that fills up: nothing runs without its trail, nothing is lost, and with room again all goes on by itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.architecture.source import ROOT

pytestmark = pytest.mark.req("AUD-3", "IDM-3", "DB-1")
SIZES = {"sqlite": "3m", "postgres": "160m"}


def on_a_small_disk(database: str) -> dict[str, Any]:
    """Run the house where `/tmp` is a small disk of its own, which nobody else sees."""
    house = f"{sys.executable} -m tests.faults.small_disk {database} /tmp"
    inner = f"mount -t tmpfs -o size={SIZES[database]} small /tmp && cd /tmp && exec {house}"
    kind = "-m" if os.geteuid() == 0 else "-rm"
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "TMPDIR": "/tmp"}
    done = subprocess.run(
        ["unshare", kind, "sh", "-c", inner], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4_000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("database", sorted(SIZES))
def test_a_disk_that_fills_up_stops_calls_and_loses_none(database: str) -> None:
    found = on_a_small_disk(database)
    print(f"{database} on a full disk: {found}")
    before, meanwhile = found["before"], found["while"]
    assert before["told"]["trail_unavailable"] >= 3
    assert before["ran"] == before["told"].get("completed", 0) + before["told"].get("in_doubt", 0)
    assert before["on_record"] == before["ran"]
    assert (before["after"], before["verified"]) == ("completed", True)
    assert meanwhile == {"told": "in_doubt", "again": "in_doubt", "ran_again": 0, "verified": True}


def test_the_small_disk_is_nobody_elses() -> None:
    before = Path("/proc/self/mountinfo").read_text()
    assert "small" not in [line.split()[-2] for line in before.splitlines()]
