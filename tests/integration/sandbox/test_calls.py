"""A call does in the jail what its author wrote, and only its reply is the reply."""

from __future__ import annotations

import asyncio
import json

import pytest
import pytest_asyncio

from tests.integration.sandbox.driver import Yard

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.req("SBX-1", "SBX-2")]


@pytest_asyncio.fixture(autouse=True, scope="module", loop_scope="module")
async def _tools(yard: Yard) -> None:
    await yard.load("plain")


@pytest.mark.parametrize("tool", ["add", "add_later"])
async def test_plain_and_async_functions_both_run(yard: Yard, tool: str) -> None:
    assert await yard.output(tool, {"a": 1, "b": 2}) == 3


@pytest.mark.req("CON-1")
async def test_a_result_carries_its_wording_for_the_model(yard: Yard) -> None:
    raw = await yard.run("explained", {"number": 7})
    assert (raw.reply, raw.for_model) == (b"7", "the number is 7")


async def test_models_come_in_and_go_out_by_the_names_of_the_schema(yard: Yard) -> None:
    assert await yard.output("price", {"item": "tea", "amount": 2}) == {"item": "tea", "totalPrice": 3.0}


@pytest.mark.req("CON-3")
async def test_the_author_s_own_validator_runs_in_the_jail_and_says_input_invalid(yard: Yard) -> None:
    code, message = await yard.fault("price", {"item": "tea", "amount": 3})
    assert (code, message) == ("input_invalid", "the arguments do not fit: `amount`: Value error, must be even")


@pytest.mark.req("CON-12")
async def test_the_context_says_whose_call_it_is(yard: Yard) -> None:
    assert await yard.output("whoami") == ["ana", "session-1", "key-1"]


@pytest.mark.req("CON-12")
async def test_what_was_not_declared_is_not_in_the_context(yard: Yard) -> None:
    code, message = await yard.fault("undeclared")
    assert code == "not_available"
    assert "`ctx.http` is not there" in message


async def test_what_a_tool_prints_is_kept_apart_from_its_reply(yard: Yard) -> None:
    raw = await yard.run("talkative")
    assert raw.reply == b'"returned"'
    assert sorted(raw.printed.splitlines()) == [b"complained", b"logged", b"printed", b"written"]


async def test_standard_input_is_empty(yard: Yard) -> None:
    assert await yard.output("listening") == ""


async def test_an_exception_is_a_tool_error_whose_trace_stays_in_the_evidence(yard: Yard) -> None:
    raw = await yard.run("broken", {"text": "no such row"})
    assert raw.fault is not None
    assert (raw.fault.code, raw.fault.message) == ("tool_error", "LookupError: no such row")
    assert "plain.py" in raw.evidence["trace"]


async def test_leaving_by_system_exit_is_a_tool_error(yard: Yard) -> None:
    assert await yard.fault("leaving") == ("tool_error", "SystemExit: 3")


async def test_a_huge_exception_text_is_cut(yard: Yard) -> None:
    _, message = await yard.fault("broken", {"text": "x" * 8_000})
    assert len(message) <= 1_000


@pytest.mark.req("CON-3")
async def test_output_of_another_type_reaches_the_host_to_be_refused_there(yard: Yard) -> None:
    assert (await yard.run("mistyped")).reply == b'"text"'


async def test_output_that_cannot_be_written_is_output_invalid(yard: Yard) -> None:
    code, _ = await yard.fault("unwritable")
    assert code == "output_invalid"


@pytest.mark.req("SBX-8")
async def test_the_host_measures_time_and_memory(yard: Yard) -> None:
    effects = (await yard.run("add", {"a": 1, "b": 2})).effects
    assert 0 < effects.cpu_seconds < 5
    assert 0 < effects.wall_seconds < 30
    assert effects.peak_memory_bytes > 1 << 20


@pytest.mark.req("CON-3")
async def test_arguments_at_the_size_limit_arrive_whole(yard: Yard) -> None:
    text = json.dumps({"text": "y" * 8_192})
    raw = await yard.run("broken", json.loads(text))
    assert raw.fault is not None
    assert raw.fault.message.startswith("LookupError: yyy")


async def test_what_an_import_made_of_sockets_is_not_used_between_calls(yard: Yard) -> None:
    """A zygote puts itself in order once nobody asks; what it needs for that is not the tool's."""
    await yard.load("patching")
    said: list[tuple[str, int]] = []
    for _ in range(6):
        said.append(tuple(await yard.output("patched")))
        await asyncio.sleep(0.03)
    assert {name for name, _ in said} == {"_Green"}
    assert len({imported_at for _, imported_at in said}) == 1  # a zygote that fails is replaced, and imports anew
