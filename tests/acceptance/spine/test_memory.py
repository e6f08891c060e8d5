"""A process that has calls made in earnest has its memory gathered, once; one that makes a few is left alone."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ringfence.assembly import assemble
from ringfence.kernel import large_pages
from tests.acceptance.spine.household import assert_completed, config, open_house

pytestmark = [pytest.mark.asyncio, pytest.mark.req("SBX-2")]


@pytest.mark.parametrize(("calls", "times"), [(63, 0), (64, 1), (80, 1)])
async def test_memory_is_gathered_once_there_were_many_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: int, times: int
) -> None:
    gathered: list[None] = []
    monkeypatch.setattr(large_pages, "gather", lambda: gathered.append(None))
    monkeypatch.setattr(assemble, "_MEMORY_SECONDS", 0.01)
    async with open_house(config(tmp_path)) as house:
        for _ in range(calls):
            assert_completed(await house.call("echo", {"text": "a"}))
        await asyncio.sleep(0.2)
        assert len(gathered) == times
