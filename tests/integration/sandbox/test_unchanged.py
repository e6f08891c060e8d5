"""What a zygote wrote to and left as it was laid down is let go; whatever it changed, it keeps."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import pytest
import pytest_asyncio

from tests.integration.sandbox.driver import Yard

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.req("SBX-2")]
SPARES = 4
CALLS_WORTH_IT = 8


@pytest_asyncio.fixture(autouse=True, scope="module", loop_scope="module")
async def _tools(yard: Yard) -> None:
    await yard.load("standing")


async def test_later_spares_of_a_jail_inherit_less_than_the_first(yard: Yard) -> None:
    first = await yard.output("own_kibibytes", agent="newcomer")
    for _ in range(CALLS_WORTH_IT):
        await yard.output("own_kibibytes", agent="newcomer")
    await asyncio.sleep(0.5)
    for _ in range(SPARES):  # those that were born before
        await yard.output("own_kibibytes", agent="newcomer")
    assert await yard.output("own_kibibytes", agent="newcomer") < first * 0.85


_BEGIN = """
import json, os, sys, threading, time
from ringfence.inside import bedrock, unchanged

def own() -> int:
    with open("/proc/self/smaps_rollup") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("Anonymous:"))

kept = [{"number": number, "text": str(number) * 9} for number in range(50_000)]
marked = bytearray(4_000_000)
below = bedrock.lay(bedrock.begin_trial())
counts = [sys.getrefcount(each) for each in kept]
for each in kept:  # looks at every one of them, so writes to every one of them
    each["number"], each["text"]
for number in range(0, 50_000, 1000):
    kept[number]["text"] = f"changed {number}"
marked[1_000_000], marked[3_000_000] = 7, 9
del each
held = kept[::3]
before = own()
"""
_END = """
after = own()
again = [sys.getrefcount(each) for each in kept]
print(json.dumps({
    "part": after / before,
    "counts": all(now == then + (number % 3 == 0) for number, (then, now) in enumerate(zip(counts, again))),
    "changed": all(kept[n]["text"] == (f"changed {n}" if n % 1000 == 0 else str(n) * 9) for n in range(50_000)),
    "marked": [sum(marked), marked[1_000_000], marked[3_000_000]],
    "descriptors": len(os.listdir("/proc/self/fd")),
}))
"""
_AS_IT_SHOULD = "unchanged.let_go_of_unchanged(below, bear=os.fork)"
_KEPT = {"counts": True, "changed": True, "marked": [16, 7, 9]}


async def _told_after(letting_go: str) -> dict[str, Any]:
    program = _BEGIN + letting_go + _END
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE)
    said, _ = await process.communicate()
    assert process.returncode == 0
    told: dict[str, Any] = json.loads(said)
    assert {name: told[name] for name in _KEPT} == _KEPT
    return told


async def test_what_was_looked_at_is_let_go_and_what_was_changed_is_kept() -> None:
    told = await _told_after(_AS_IT_SHOULD)
    assert told["part"] < 0.7, told


async def test_nothing_is_left_open() -> None:
    """One more than that is the one by which they are listed."""
    assert (await _told_after(_AS_IT_SHOULD))["descriptors"] == (await _told_after(""))["descriptors"]


async def test_a_page_that_changed_after_the_child_was_born_is_kept() -> None:
    """The child's own copies all look alike: only what its parent has by now tells."""
    told = await _told_after(f"unchanged._guessed = lambda pages, *, piece, again: pages\n{_AS_IT_SHOULD}")
    assert told["part"] < 0.95, told


@pytest.mark.parametrize(
    "born",
    [
        pytest.param("os.fork() or os._exit(1)", id="ends at once"),
        pytest.param("os.fork() or time.sleep(3) or os._exit(1)", id="never answers"),
    ],
)
async def test_a_child_that_does_not_answer_leaves_all_as_it_was(born: str) -> None:
    told = await _told_after(f"unchanged.let_go_of_unchanged(below, bear=lambda: {born})")
    assert told["part"] > 0.95, told


async def test_a_process_that_can_bear_no_child_goes_on_as_it_is() -> None:
    told = await _told_after("def bear():\n    raise OSError('none')\nunchanged.let_go_of_unchanged(below, bear=bear)")
    assert told["part"] > 0.95, told


async def test_what_an_import_made_of_its_parts_stops_nobody() -> None:
    told = await _told_after(f"unchanged.Sight = None\n{_AS_IT_SHOULD}")
    assert told["part"] > 0.95, told


async def test_nothing_is_let_go_beside_a_second_thread() -> None:
    told = await _told_after(f"threading.Thread(target=time.sleep, args=(1,)).start()\n{_AS_IT_SHOULD}")
    assert told["part"] > 0.95, told


async def test_memory_that_was_not_laid_down_is_left_alone() -> None:
    told = await _told_after("unchanged.let_go_of_unchanged(bedrock.Bedrock(), bear=os.fork)")
    assert told["part"] > 0.95, told
