"""Lines 72, 162, 173: whoever meddles with how spares are born gets no call twice, and keeps nobody waiting."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest

from ringfence.errors import DeclarationRefused
from ringfence.runtime import Failed
from ringfence.sandbox import spares
from tests.attack.lair import open_lair
from tests.attack.probes import births, importing

pytestmark = pytest.mark.req("SBX-9", "SBX-2")

TARRYING = {"never_ready": births.NEVER_READY, "barren": births.BARREN}


@pytest.mark.req("SBX-10")
@pytest.mark.parametrize("name", TARRYING)
async def test_line_72_a_call_for_which_no_process_gets_ready_ends_and_holds_up_nobody(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spares, "_SECONDS_TO_GET_READY", 1.0)
    modules = {name: TARRYING[name], "innocent": importing.INNOCENT}
    async with asyncio.timeout(20), open_lair(tmp_path, modules, agents=("mallory", "ana")) as lair:
        more_than_run_at_once = [asyncio.ensure_future(lair.call("tarries")) for _ in range(12)]
        assert len(await lair.said("innocent", by="ana")) == 16
        told = [each for each in await asyncio.gather(*more_than_run_at_once) if isinstance(each, Failed)]
        why = ("wall_limit", "no process of the jail got ready in time", spares.IMPORT_LESS)
        assert [(each.code, each.message, each.remedy) for each in told] == [why] * 12
        assert len(await lair.said("innocent", by="ana")) == 16


async def test_line_162_a_process_that_answers_for_its_sibling_serves_one_call(tmp_path: Path) -> None:
    async with asyncio.timeout(20), open_lair(tmp_path, {"greedy": births.ANSWERS_FOR_A_SIBLING}) as lair:
        outcomes = await asyncio.gather(*(lair.call("linger") for _ in range(4)))
        assert [outcome.status for outcome in outcomes] == ["completed"] * 4
        seen = [(await lair.seen(outcome))["process"]["pids"][1] for outcome in outcomes]
        # At least every other process of its jail kept quiet: the trick was played.
        assert min(later - earlier for earlier, later in pairwise(sorted(seen))) >= 2


async def test_line_173_a_process_that_says_twice_that_it_is_ready_is_not_heard(tmp_path: Path) -> None:
    # Where both are read together, it did not even get ready.
    with pytest.raises(DeclarationRefused, match=r"the reply is not one frame: |did not get ready"):
        async with open_lair(tmp_path, {"eager": births.ANSWERS_TWICE}):
            pass


async def test_line_162_a_jail_of_which_many_processes_fail_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each leaves a control group that nobody else is put into."""
    monkeypatch.setattr(spares, "_MOST_FAILURES_EVER", 4)
    async with asyncio.timeout(60), open_lair(tmp_path, {"frail": births.EVERY_OTHER_FAILS}) as lair:
        outcomes = [await lair.call("innocent") for _ in range(16)]
        served = [outcome for outcome in outcomes if outcome.status == "completed"]
        assert len(served) >= 12
        assert len({(await lair.seen(outcome))["process"]["parent"] for outcome in served}) >= 3
