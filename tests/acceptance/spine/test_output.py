"""Output: withheld whole if it does not fit, cleaned leaf by leaf if it does, and framed for the model."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from pathlib import Path
from typing import Any

import pytest

from ringfence.execution.sandbox import RawOutput
from ringfence.runtime import Failed, Outcome, pipeline
from ringfence.runtime.cleaning import cleanse
from tests.acceptance.spine.household import assert_completed, config, fault, open_house, raw, reply, scripted

CANARY = "canaryinthecoalmine"


async def said(tmp_path: Path, tool: str, answer: RawOutput, **settings: Any) -> tuple[Outcome, list[dict[str, Any]]]:
    """What the caller is told when the jail answers like this, and the trail."""
    arguments = {"look_up": {"name": "x"}, "tell": {"question": "x"}, "echo": {"text": "x"}, "note": {"text": "x"}}
    async with open_house(config(tmp_path, **settings), sandbox=scripted({tool: answer})) as house:
        return await house.call(tool, arguments[tool]), await house.events()


@pytest.mark.req("CON-3")
@pytest.mark.parametrize(
    ("tool", "answer"),
    [
        ("look_up", [{"id": CANARY, "name": "x"}]),
        ("look_up", [{"id": 1, "name": "x", CANARY: 1}]),
        ("look_up", {CANARY: []}),
        ("look_up", CANARY),
        ("look_up", None),
        ("tell", {CANARY: "not a number"}),
        ("tell", {CANARY: CANARY}),
        ("echo", {CANARY: 1}),
        ("note", CANARY),
    ],
)
async def test_output_that_misses_its_schema_is_withheld_whole(tmp_path: Path, tool: str, answer: Any) -> None:
    outcome, events = await said(tmp_path, tool, reply(answer, for_model=CANARY))
    assert isinstance(outcome, Failed)
    assert outcome.code == "output_invalid"
    assert CANARY not in json.dumps(outcome.as_dict()) + outcome.for_model() + repr(outcome)
    assert [each["body"]["code"] for each in events if each["kind"] == "tool_failed"] == ["output_invalid"]
    assert CANARY not in json.dumps(events)


@pytest.mark.req("CON-3")
@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        f'{{"{CANARY}": NaN}}'.encode(),
        f'{{"{CANARY}": 1e999}}'.encode(),
        f'{{"{CANARY}": 1, "{CANARY}": 2}}'.encode(),
        f'{{"{CANARY}": 123456789012345678901234567890}}'.encode(),
        f'{{"{CANARY}": "\\ud800"}}'.encode(),
        f'{{"{CANARY}": "'.encode() + b'\xff"}',
        f'["{CANARY}"]'.encode("utf-16"),
        b"\xef\xbb\xbf" + f'"{CANARY}"'.encode(),
        b'"a" "b"',
        b"[" * 100_000 + b"]" * 100_000,
        f'{{"{CANARY}":'.encode() * 70 + b"1" + b"}" * 70,
    ],
)
async def test_a_reply_that_is_not_one_plain_json_text_is_a_protocol_error(tmp_path: Path, text: bytes) -> None:
    outcome, events = await said(tmp_path, "tell", raw(text))
    assert isinstance(outcome, Failed)
    assert outcome.code == "protocol_error"
    assert CANARY not in json.dumps(outcome.as_dict()) + outcome.for_model() + json.dumps(events)


@pytest.mark.req("CON-3")
async def test_neither_a_reply_nor_a_fault_is_a_protocol_error(tmp_path: Path) -> None:
    outcome, _ = await said(tmp_path, "echo", RawOutput(reply=None))
    assert isinstance(outcome, Failed)
    assert outcome.code == "protocol_error"


@pytest.mark.req("CON-3")
async def test_a_reply_over_the_limit_is_refused_unread(tmp_path: Path) -> None:
    limits = {"limits": {"output_kb": 1}}
    outcome, _ = await said(tmp_path, "echo", reply(CANARY * 100), sandbox=limits)
    assert isinstance(outcome, Failed)
    assert outcome.code == "output_limit"
    assert CANARY not in json.dumps(outcome.as_dict())


@pytest.mark.req("SAN-2", "SAN-3")
async def test_hostile_strings_are_cleaned_leaf_by_leaf(tmp_path: Path) -> None:
    rows = [{"id": 1, "name": "a\x1b]0;evil\x07b"}, {"id": 2, "name": "c\u202ed\U000e0041"}]
    outcome, events = await said(tmp_path, "look_up", reply(rows))
    assert assert_completed(outcome).output == [{"id": 1, "name": "ab"}, {"id": 2, "name": "cd"}]
    everything = json.dumps(outcome.as_dict(), ensure_ascii=False) + outcome.for_model()
    for hidden in ("\x1b", "\\u001b", "\u202e", "\U000e0041", "evil"):
        assert hidden not in everything
    kinds = {finding.kind for finding in assert_completed(outcome).findings}
    assert kinds == {"terminal_string", "bidi_control", "tag_character"}
    (grave,) = [each for each in events if each["kind"] == "security_event"]
    assert grave["body"]["detail"] == ["bidi_control", "tag_character", "terminal_string"]
    assert grave["safety"] == "read"


@pytest.mark.req("SAN-3")
async def test_keys_are_cleaned_too(tmp_path: Path) -> None:
    outcome, _ = await said(tmp_path, "tell", reply({"a\u202e": 1}))
    assert assert_completed(outcome).output == {"a": 1}


@pytest.mark.req("SAN-3")
async def test_two_keys_that_are_one_once_cleaned_are_invalid_output(tmp_path: Path) -> None:
    outcome, _ = await said(tmp_path, "tell", reply({f"{CANARY}\u202e": 1, CANARY: 2}))
    assert isinstance(outcome, Failed)
    assert outcome.code == "output_invalid"
    assert CANARY not in json.dumps(outcome.as_dict()) + outcome.for_model()


@pytest.mark.req("SAN-2")
async def test_words_for_the_model_are_cleaned_like_output(tmp_path: Path) -> None:
    outcome, _ = await said(tmp_path, "tell", reply({"a": 1}, for_model="one\x1b[2J \u202etwo\ud800"))
    assert assert_completed(outcome).text == "one two\ufffd"


@pytest.mark.req("SAN-2")
async def test_long_words_for_the_model_are_cut_with_the_count_of_bytes_cut(tmp_path: Path) -> None:
    outcome, _ = await said(tmp_path, "tell", reply({"a": 1}, for_model="x" * 100_000))
    assert len(assert_completed(outcome).text) < 66_000
    assert "[truncated: " in assert_completed(outcome).text


@pytest.mark.req("SAN-2")
@pytest.mark.parametrize("code", ["tool_error", "wall_limit", "protocol_error"])
async def test_the_error_text_of_a_tool_is_cleaned_and_cut(tmp_path: Path, code: str) -> None:
    message = "ValueError: \x1b]8;;http://evil\x07link\u202e\x00" + "x" * 100_000 + "\ud800"
    outcome, events = await said(tmp_path, "echo", fault(message, code=code))
    assert isinstance(outcome, Failed)
    assert outcome.code == code
    # What is sealed is drawn at random, and any short word stands in it now and then.
    told = [re.sub(r"v1\.[0-9a-f]{16}\.[A-Za-z0-9+/=]+", "sealed", json.dumps(event)) for event in events]
    everything = json.dumps(outcome.as_dict(), ensure_ascii=False) + outcome.for_model() + "".join(told)
    for hidden in ("\x1b", "u001b", "\u202e", "u202e", "\x00", "u0000", "evil"):
        assert hidden not in everything
    assert len(outcome.message) < 3_000


@pytest.mark.req("SAN-2")
async def test_output_stands_in_a_frame_with_a_boundary_of_its_own_at_every_reading(tmp_path: Path) -> None:
    outcome, _ = await said(tmp_path, "echo", reply("hello"))
    lines = [outcome.for_model().splitlines() for _ in range(2)]
    assert [each[1] for each in lines] == ["hello", "hello"]
    assert lines[0][0] != lines[1][0]


@pytest.mark.req("SAN-3")
async def test_harmless_output_passes_unchanged(tmp_path: Path) -> None:
    rows = [{"id": 1, "name": "Ærøskøbing, 東京, عربى, 👩‍👩‍👧"}]
    outcome, events = await said(tmp_path, "look_up", reply(rows))
    assert (assert_completed(outcome).output, assert_completed(outcome).findings) == (rows, ())
    assert [each for each in events if each["kind"] == "security_event"] == []


@pytest.mark.req("SAN-4")
@pytest.mark.parametrize(("length", "told", "beside"), [(100, 0, False), (20_000, 0, True), (100, 20_000, True)])
async def test_a_long_output_is_cleaned_beside_the_loop_and_all_the_same(
    tmp_path: Path, length: int, told: int, beside: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    cleaned_by: list[threading.Thread] = []

    def noted(*arguments: Any, **options: Any) -> Any:
        cleaned_by.append(threading.current_thread())
        return cleanse(*arguments, **options)

    monkeypatch.setattr(pipeline, "cleanse", noted)
    outcome, _ = await said(tmp_path, "echo", reply("a\u202e" * length, for_model="b" * told or None))
    assert (assert_completed(outcome).output, len(cleaned_by)) == ("a" * length, 1)
    assert (cleaned_by[0] is not threading.main_thread()) is beside


@pytest.mark.req("SAN-4", "AUD-3")
async def test_a_call_that_is_cancelled_while_its_output_is_cleaned_is_on_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slowly(*arguments: Any, **options: Any) -> Any:
        begun.set()
        go_on.wait(30)
        return cleanse(*arguments, **options)

    monkeypatch.setattr(pipeline, "cleanse", slowly)
    sandbox = scripted({"echo": reply("a" * 20_000)})
    async with open_house(config(tmp_path), sandbox=sandbox) as house:
        call = asyncio.ensure_future(house.call("echo", {"text": "x"}))
        while not begun.is_set():  # noqa: ASYNC110  a thread sets it
            await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        go_on.set()
        ended = [each["body"]["code"] for each in await house.events() if each["kind"] == "tool_failed"]
    assert ended == ["cancelled"]
