"""Every refusal and failure that a caller meets has a stable code, a reader and a remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ringfence.errors import CODES, Audience
from ringfence.execution.sandbox import RawOutput
from ringfence.runtime import Failed, Refused
from ringfence.testing import Script
from tests.acceptance.spine.household import config, fault, open_house, rule, rules, scripted

pytestmark = pytest.mark.req("OPS-7")

MET: list[tuple[str, str, dict[str, Any]]] = [
    ("input_invalid", "echo", {}),
    ("tool_not_found", "nope", {}),
    ("policy_denied", "order", {"item": "x", "count": 1}),
    ("not_available", "read_page", {"title": "x"}),
    ("sandbox_denied", "remember", {"key": "x"}),
    ("output_invalid", "look_up", {"name": "x"}),
    ("tool_error", "note", {"text": "x"}),
    ("wall_limit", "measure", {"value": 1}),
]


@pytest.mark.parametrize(("code", "tool", "arguments"), MET, ids=[code for code, _, _ in MET])
async def test_what_a_caller_is_told_has_a_known_code_and_what_to_do_about_it(
    tmp_path: Path, code: str, tool: str, arguments: dict[str, Any]
) -> None:
    replies: dict[str, Script | RawOutput] = {
        "look_up": lambda _: "x",
        "note": fault("x"),
        "measure": fault("x", code="wall_limit"),
    }
    jail = scripted(replies, serves=frozenset({"storage"}), without=("remember",))
    async with open_house(config(tmp_path, policy=rules(rule("deny", tool="order"))), sandbox=jail) as house:
        outcome = await house.call(tool, arguments)
    assert isinstance(outcome, Refused | Failed)
    assert (outcome.code, outcome.remedy) == (code, CODES[code].remedy)
    assert outcome.remedy in outcome.for_model() or CODES[code].audience is not Audience.MODEL
    assert "\n" not in outcome.message
    assert not outcome.message.endswith(".")
