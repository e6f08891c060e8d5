"""Processes that start for the first time at the same moment all come up, over one record of the tools."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from ringfence.assembly import assemble
from ringfence.assembly.registering import registration_events
from tests.acceptance.database.conftest import MakeConfig
from tests.acceptance.spine.household import assert_completed, open_house

pytestmark = pytest.mark.req("SCL-1", "REG-1")


async def test_a_process_that_another_overtakes_while_it_registers_its_tools_goes_by_their_record(
    settings: MakeConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = settings()
    as_before = registration_events
    overtaken: list[str] = []

    async def overtake() -> None:
        async with open_house(config) as house:
            assert_completed(await house.call("echo", {"text": "first"}))
            overtaken.append("yes")

    def told(*given: Any, **named: Any) -> Any:
        monkeypatch.setattr(assemble, "registration_events", as_before)
        other = threading.Thread(target=lambda: asyncio.run(overtake()))
        other.start()
        other.join()
        return as_before(*given, **named)

    monkeypatch.setattr(assemble, "registration_events", told)
    async with open_house(config) as house:
        assert overtaken == ["yes"]
        assert_completed(await house.call("echo", {"text": "second"}))
