"""Whatever a tool does to its channel, the host sees one well-formed reply or says protocol_error."""

from __future__ import annotations

import json

import pytest
import pytest_asyncio

from ringfence.contract.limits import Limits
from tests.integration.sandbox.driver import Yard
from tests.integration.sandbox.tools import forger

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.req("SBX-2")]


@pytest_asyncio.fixture(autouse=True, scope="module", loop_scope="module")
async def _tools(yard: Yard) -> None:
    await yard.load("forger")


@pytest.mark.parametrize("what", sorted(forger._FORGED))  # pyright: ignore[reportPrivateUsage]
async def test_bytes_before_the_reply_are_a_protocol_error(yard: Yard, what: str) -> None:
    code, _ = await yard.fault("forge_then_return", {"what": what})
    assert code == "protocol_error"


@pytest.mark.parametrize("what", sorted(forger._ALONE))  # pyright: ignore[reportPrivateUsage]
async def test_a_forged_reply_that_is_not_well_formed_is_a_protocol_error(yard: Yard, what: str) -> None:
    code, _ = await yard.fault("forge_and_end", {"what": what})
    assert code == "protocol_error"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("forge_and_fail", {"status": 1}),
        ("vanish", {"status": 0}),
        ("vanish", {"status": 7}),
        ("crash", {}),
        ("deaf", {}),
        ("forge_from_a_thread", {}),
    ],
)
async def test_ending_in_another_way_than_by_one_reply_is_a_protocol_error(
    yard: Yard, tool: str, arguments: dict[str, int]
) -> None:
    code, _ = await yard.fault(tool, arguments)
    assert code == "protocol_error"


async def test_a_reply_does_not_count_while_the_tool_goes_on(yard: Yard) -> None:
    code, _ = await yard.fault("forge_and_stay", limits=Limits(wall_seconds=0.5))
    assert code == "wall_limit"


async def test_a_printed_frame_is_only_printed(yard: Yard) -> None:
    raw = await yard.run("printed_frame")
    assert raw.reply == b"1"
    assert raw.printed.endswith(b"666")


async def test_the_next_call_is_served_after_every_kind_of_misbehaviour(yard: Yard) -> None:
    for tool in ("crash", "deaf", "forge_from_a_thread"):
        await yard.run(tool)
    assert json.loads((await yard.run("printed_frame")).reply or b"") == 1
