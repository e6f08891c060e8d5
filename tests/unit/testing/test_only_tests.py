"""What runs without a jail is refused outside a test run."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import ringfence
from ringfence import Context
from ringfence.errors import CallFailed, CallRefused, Misuse
from ringfence.testing import dangerously_call
from tests.acceptance.spine import toolbox
from tests.architecture.source import ROOT

pytestmark = pytest.mark.req("OPS-6")


@pytest.mark.parametrize(
    "attempt",
    ["DangerouslyScriptedSandbox({})", "asyncio.run(dangerously_call(echo, {'text': 'x'}))"],
)
def test_the_doors_of_this_room_are_shut_outside_a_test_run(attempt: str) -> None:
    program = (
        "import asyncio\nfrom ringfence.testing import DangerouslyScriptedSandbox, dangerously_call\n"
        f"from tests.acceptance.spine.toolbox import echo\n{attempt}\n"
    )
    here = Path(ringfence.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(here), str(ROOT)])}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "refused outside tests" in done.stderr


async def test_a_unit_test_can_call_a_tools_function_held_to_its_contract() -> None:
    assert await dangerously_call(toolbox.look_up, {"name": "x"}) == [{"id": 10, "name": "x"}]
    assert await dangerously_call(toolbox.order, {"item": "pen", "count": 2}) == 2
    assert await dangerously_call(toolbox.tell, {"question": "x"}) == {"x": 1}
    assert await dangerously_call(toolbox.note, {"text": "x"}) is None
    here = Context(agent="ana", session="s", idempotency_key="k")
    assert await dangerously_call(toolbox.who, {"name": "x"}, context=here) == "ana/x"
    with pytest.raises(CallRefused):
        await dangerously_call(toolbox.look_up, {"name": 1})


async def test_a_contract_without_its_function_cannot_be_called() -> None:
    with pytest.raises(Misuse, match="has no function here"):
        await dangerously_call(replace(toolbox.echo, implementation=None), {"text": "x"})


@pytest.mark.req("CON-12")
@pytest.mark.parametrize("name", ["http", "files", "secrets", "storage", "processes"])
def test_what_was_not_declared_is_not_on_the_context(name: str) -> None:
    empty = Context(agent="ana", session="s", idempotency_key="k")
    with pytest.raises(CallFailed, match=f"ctx.{name}") as refusal:
        getattr(empty, name)
    assert refusal.value.code == "not_available"
    there = Context(agent="ana", session="s", idempotency_key="k", clients={name: "the client"})
    assert getattr(there, name) == "the client"
