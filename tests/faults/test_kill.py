"""A process is killed at a random moment between two points of a call: nothing happens twice, nothing is lost."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ringfence.assembly.assemble import utc_now
from ringfence.runtime import Completed, Refused
from ringfence.runtime.invocation import Status
from tests.acceptance.database.conftest import MakeConfig
from tests.acceptance.spine.household import Clock, open_house
from tests.architecture.source import ROOT
from tests.faults.far_side import FarSide, far_side
from tests.faults.victim import POINTS

pytestmark = pytest.mark.req("IDM-2", "IDM-3", "SCL-1", "AUD-3")
PAIRS = list(pairwise(POINTS))


def kill_between(config: dict[str, Any], far: FarSide, *, point: str, first: int) -> dict[str, str]:
    """Start a victim, let it make a few calls, and kill it after it reached the point; gives how far each key came."""
    command = [sys.executable, "-m", "tests.faults.victim", json.dumps(config), str(far.port), str(first)]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    victim = subprocess.Popen(
        command, cwd=Path(config["audit"]["anchor"]).parents[1], env=environment, stdout=subprocess.PIPE, text=True
    )
    reached: dict[str, str] = {}
    assert victim.stdout is not None
    wanted = f"k{first + random.randint(0, 2)}"
    for line in victim.stdout:
        at, key = line.split()
        reached[key] = at
        if (at, key) == (point, wanted):
            break
    time.sleep(random.uniform(0, 0.02))
    victim.send_signal(signal.SIGKILL)
    # The last line may be cut where the victim was killed.
    words = [line.split() for line in victim.stdout if line.endswith("\n")]
    reached.update({key: at for at, key in words})
    victim.wait()
    victim.stdout.close()
    return reached


async def fates(settings: MakeConfig, far: FarSide, reached: dict[str, str], clock: Clock) -> Counter[str]:
    """What became of every key, asked by another process an hour later; nothing runs a second time."""
    found: Counter[str] = Counter()
    async with open_house(settings(), clock=clock) as house:
        calls = {each.invocation.arguments: each for each in await house.runtime.calls.list(limit=1_000)}
        for key, point in reached.items():
            before = far.seen[key]
            assert before <= 1, f"{key} happened {before} times"
            status = calls[json.dumps({"title": key}, separators=(",", ":"))].status
            again = await house.session().call("draft", {"title": key}, idempotency_key=key)
            assert (house.ran, far.seen[key]) == ([], before)
            if status is Status.COMPLETED:
                assert isinstance(again, Completed)
                assert (again.output, before) == (f"answer to {key}", 1)
            else:
                assert (status, point != "committed") == (Status.IN_DOUBT, True)
                assert isinstance(again, Refused)
                assert again.code == "in_doubt"
            found[status.value] += 1
        assert (await house.runtime.audit.verify()).ok
    return found


async def kill_often(settings: MakeConfig, *, point: str, times: int) -> Counter[str]:
    config, found = settings(), Counter[str]()
    with far_side() as far:
        for number in range(times):
            reached = kill_between(config, far, point=point, first=number * 10)
            found += await fates(settings, far, reached, Clock(at=utc_now() + timedelta(hours=1)))
    print(f"killed {times} times after {point}: {dict(found)}")
    return found


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
async def test_five_kills_between_two_points(settings: MakeConfig, pair: tuple[str, str]) -> None:
    found = await kill_often(settings, point=pair[0], times=5)
    assert found.total() >= 5


@pytest.mark.long
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
async def test_fifty_kills_between_two_points(settings: MakeConfig, pair: tuple[str, str]) -> None:
    found = await kill_often(settings, point=pair[0], times=50)
    assert found.total() >= 50
