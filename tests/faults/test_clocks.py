"""Clocks that are set forward, set back, or wrong on one of two hosts: nothing happens twice, and no time is extended.

`libfaketime` stands between real processes and the clock; it is among the packages that the tests need.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.database.conftest import MakeConfig
from tests.architecture.source import ROOT
from tests.faults.far_side import FarSide, far_side

pytestmark = pytest.mark.req("IDM-2", "IDM-3", "APR-6", "POL-4", "POL-2", "SCL-1", "AUD-3")
MISSING = "libfaketime is not installed: `make setup` installs it where apt is there and you are root"
AGENT: dict[str, Any] = {
    "tool_rate_limits": {"echo": "3/hour"},
    "spend_caps": [{"tools": "measure", "most": 10, "per": "day", "amount": "args.value"}],
}


def library() -> Path:
    found = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    assert found, MISSING
    return found[0]


@dataclass
class Host:
    """One process with a clock of its own."""

    process: subprocess.Popen[str]
    clock: Path

    def says(self, *words: str) -> str:
        assert self.process.stdin is not None
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()
        return self.heard()

    def heard(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def step(self, offset: str) -> None:
        """Set its clock off by so much from the real one."""
        self.clock.write_text(offset)


@contextmanager
def host(config: dict[str, Any], far: FarSide, folder: Path, *, offset: str = "+0") -> Generator[Host, None, None]:
    clock = folder / f"clock-{len(list(folder.glob('clock-*')))}"
    clock.write_text(offset)
    environment = {
        **os.environ,
        "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
        "LD_PRELOAD": str(library()),
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_DONT_RESET": "1",
    }
    command = [sys.executable, "-m", "tests.faults.clockwork", json.dumps(config), str(far.port)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, cwd=folder, env=environment, stdin=pipe, stdout=pipe, text=True)
    one = Host(process=process, clock=clock)
    try:
        assert one.heard() == "ready"
        yield one
        process.communicate("quit\n", timeout=60)
        assert process.returncode == 0
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def config(settings: MakeConfig) -> dict[str, Any]:
    return settings(agent=AGENT)


def test_a_clock_that_is_set_back_and_forth_makes_nothing_happen_twice(config: dict[str, Any], tmp_path: Path) -> None:
    with far_side() as far, host(config, far, tmp_path) as one:
        for number, offset in enumerate(("+0", "-2d", "+3h", "-400d", "+0")):
            one.step(offset)
            assert one.says("call", f"k{number}") == "completed"
            for earlier in range(number + 1):
                assert one.says("call", f"k{earlier}") == "completed"
        assert far.seen == dict.fromkeys((f"k{number}" for number in range(5)), 1)
        assert one.says("verify") == "ok"
    print(f"5 keys, 5 steps of the clock: {far.seen.total()} effects")


def test_two_hosts_whose_clocks_differ_share_what_was_done(config: dict[str, Any], tmp_path: Path) -> None:
    with (
        far_side() as far,
        host(config, far, tmp_path, offset="-6h") as behind,
        host(config, far, tmp_path, offset="+6h") as ahead,
    ):
        for number, (one, other) in enumerate(((behind, ahead), (ahead, behind)) * 2):
            assert one.says("call", f"k{number}") == "completed"
            assert other.says("call", f"k{number}") == "completed"
        assert set(far.seen.values()) == {1}
        assert (behind.says("verify"), ahead.says("verify")) == ("ok", "ok")
    print(f"4 keys, 2 hosts 12 hours apart: {far.seen.total()} effects")


def test_a_request_that_expired_by_one_clock_is_never_open_again(config: dict[str, Any], tmp_path: Path) -> None:
    with far_side() as far, host(config, far, tmp_path) as one:
        call, approval = one.says("ask").split()
        one.step("+25h")
        assert one.says("resume", call) == "approval_expired"
        one.step("-25h")
        assert one.says("vote", approval) == "vote_refused"
        assert one.says("resume", call) == "approval_expired"
        assert one.says("verify") == "ok"


def test_tokens_and_money_do_not_come_back_with_an_earlier_time(config: dict[str, Any], tmp_path: Path) -> None:
    with far_side() as far, host(config, far, tmp_path) as one:
        assert [one.says("draw") for _ in range(4)] == ["completed"] * 3 + ["rate_limited"]
        assert [one.says("spend", "6") for _ in range(2)] == ["completed", "spend_cap_reached"]
        for offset in ("-2d", "+0", "-1h"):
            one.step(offset)
            assert (one.says("draw"), one.says("spend", "6")) == ("rate_limited", "spend_cap_reached")
        one.step("+1h")
        assert one.says("draw") == "completed"
