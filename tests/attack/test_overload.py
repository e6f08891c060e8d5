"""Lines 83 to 91, 93, 95: floods, spins, sleeps and crowds end with their own code, and nobody else waits for them."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from ringfence.runtime import Failed
from tests.attack.lair import Lair, answer, open_lair, unjailed

pytestmark = [pytest.mark.req("SBX-3"), pytest.mark.asyncio(loop_scope="module")]

# The wall is far away: a busy machine must not reach it before the limit that is tried. Sleepers have their own.
_LIMITS = {"cpu_seconds": 1, "wall_seconds": 60, "memory_mb": 128, "disk_mb": 8, "pids": 16, "output_kb": 256}
_OUTPUT_BYTES = 256 << 10
_MOST_GROWTH = 32 << 20

GREEDY = '''
import os, re, signal, sys, threading, time
from ringfence import Limits

SOON = Limits(wall_seconds=1)

@tool(safety="read")
def quick() -> str:
    """Behave."""
    return "quick"

@tool(safety="read")
def flood(descriptor: int, most: int) -> int:
    """Print without end."""
    left = most
    while left:
        left -= os.write(descriptor, b"flood \\xff\\x00\\x1b[2J" * 4096) and 1
    return most

@tool(safety="read")
def flood_both() -> str:
    """Print on both outputs, from two threads, without end."""
    threading.Thread(target=lambda: [os.write(2, bytes(65536)) for _ in iter(int, 1)], daemon=True).start()
    while True:
        sys.stdout.write("text" * 10000)

@tool(safety="read")
def flood_log() -> str:
    """Print one line that never ends."""
    while True:
        os.write(1, b"x" * 65536)

@tool(safety="read")
def spin(seconds: float) -> float:
    """Burn time in Python."""
    while time.process_time() < seconds:
        pass
    return time.process_time()

@tool(safety="read")
def spin_deaf() -> str:
    """Burn time where Python hears no signal, with every signal ignored or blocked."""
    for number in set(range(1, 65)) - {9, 19, 32, 33}:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    return str(sum(iter(lambda: 1, 0)))

@tool(safety="read")
def spin_together() -> str:
    """Burn time in C, in several threads at once."""
    import hashlib
    for _ in range(4):
        threading.Thread(target=lambda: hashlib.pbkdf2_hmac("sha256", b"x", b"y", (1 << 31) - 1), daemon=True).start()
    time.sleep(3600)
    return "done"

@tool(safety="read")
def backtrack() -> str:
    """Match a pattern that never comes to an end."""
    return str(re.match("(a+)+$", "a" * 64 + "!"))

@tool(safety="read", limits=SOON)
def sleep_on() -> str:
    """Sleep, whatever wakes it."""
    for number in set(range(1, 65)) - {9, 19, 32, 33}:
        signal.signal(number, signal.SIG_IGN)
    while True:
        time.sleep(3600)

@tool(safety="read", limits=SOON)
def stop_itself() -> str:
    """Stand still."""
    os.kill(os.getpid(), signal.SIGSTOP)
    signal.pause()
    return "woken"

@tool(safety="read", limits=SOON)
def wait_for_a_pipe() -> str:
    """Read from a pipe that nobody writes to."""
    reading, writing = os.pipe()
    return os.read(reading, 1).decode() + str(writing)

@tool(safety="read")
def fill_memory() -> str:
    """Keep more and more."""
    kept = []
    while True:
        kept.append(bytearray(b"x") * (1 << 20))

@tool(safety="read")
def fill_scratch() -> str:
    """Write more and more."""
    with open("/tmp/fill", "wb") as file:
        while True:
            file.write(bytes(1 << 20))

@tool(safety="read")
def crowd() -> str:
    """Start more and more threads."""
    threading.stack_size(65536)
    while True:
        threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()

@tool(safety="read")
def ramble() -> str:
    """Return more than anybody asked for."""
    return "x" * (1 << 20)
'''

ENDS: dict[str, tuple[str, dict[str, Any]]] = {
    "flood": ("output_limit", {"descriptor": 1, "most": 1_000_000}),
    "flood_both": ("output_limit", {}),
    "flood_log": ("output_limit", {}),
    "spin": ("cpu_limit", {"seconds": 3600.0}),
    "spin_deaf": ("cpu_limit", {}),
    "spin_together": ("cpu_limit", {}),
    "backtrack": ("cpu_limit", {}),
    "sleep_on": ("wall_limit", {}),
    "stop_itself": ("wall_limit", {}),
    "wait_for_a_pipe": ("wall_limit", {}),
    "fill_memory": ("memory_limit", {}),
    "fill_scratch": ("disk_limit", {}),
    "crowd": ("pids_limit", {}),
    "ramble": ("output_limit", {}),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def lair(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Lair]:
    folder = tmp_path_factory.mktemp("greedy")
    async with open_lair(folder, {"greedy": GREEDY}, agents=("mallory", "ana"), limits=_LIMITS) as lair:
        yield lair


def _most_memory() -> int:
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) * 1024


async def test_every_excess_ends_with_its_own_code_while_others_are_served(lair: Lair) -> None:
    """Lines 83, 85, 88 to 91, 93: all at once, and an honest agent beside them."""
    before = _most_memory()
    greedy = {name: asyncio.create_task(lair.call(name, **said)) for name, (_, said) in ENDS.items()}
    served = [await lair.said("quick", by="ana") for _ in range(20)]
    outcomes = {name: await task for name, task in greedy.items()}
    assert {name: getattr(one, "code", None) for name, one in outcomes.items()} == {
        name: code for name, (code, _) in ENDS.items()
    }
    assert served == ["quick"] * 20
    assert _most_memory() - before < _MOST_GROWTH


async def test_line_090_the_time_that_was_burnt_is_measured_and_bounded(lair: Lair) -> None:
    outcome = await lair.call("spin", seconds=3600.0)
    assert isinstance(outcome, Failed)
    assert 0.5 < outcome.effects["cpu_seconds"] < 2.5


async def test_line_095_a_thousand_calls_at_once_are_served_or_refused_at_once(lair: Lair) -> None:
    started = time.perf_counter()
    ends: list[float] = []

    async def one() -> str:
        outcome = await lair.call("quick")
        ends.append(time.perf_counter() - started)
        return str(getattr(outcome, "code", outcome.status))

    many = [asyncio.create_task(one()) for _ in range(1000)]
    await asyncio.sleep(0)
    asked = time.perf_counter()
    assert await lair.said("quick", by="ana") == "quick"
    waited = time.perf_counter() - asked
    told = Counter(await asyncio.gather(*many))
    assert set(told) == {"completed", "queue_full"}
    assert told["completed"] >= 256
    assert told["queue_full"] >= 500
    assert waited < max(ends)
    assert await lair.said("quick") == "quick"


async def test_without_a_limit_the_same_excess_succeeds(tmp_path: Path) -> None:
    module = tmp_path / "greedy.py"
    module.write_text("from __future__ import annotations\nfrom ringfence import tool\n" + GREEDY, encoding="utf-8")
    spinning = unjailed(module, "spin", seconds=1.5)
    rambling = unjailed(module, "ramble")
    flooding = unjailed(module, "flood", descriptor=2, most=8)
    assert answer(spinning) >= 1.5
    assert len(answer(rambling)) > _OUTPUT_BYTES
    assert answer(flooding) == 8
