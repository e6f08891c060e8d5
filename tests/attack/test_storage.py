"""A tool that has storage tries to reach rows that are not its own, from a real jail: by its client, by raw frames."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from ringfence.runtime import Completed, Failed, Outcome
from tests.acceptance.storage.pantry import VALUE, Pantry, opened, step

pytestmark = pytest.mark.req("STO-1", "VIEW-6")

TOOLS = '''
import base64
import json
import os
import time
from typing import Annotated

from pydantic import Field

from ringfence import Context, Limits, Network, Secrets, Storage, tool
from ringfence.errors import RingfenceError

Long = Annotated[str, Field(max_length=250_000)]
EVERY = [Storage("tool"), Storage("session"), Storage("agent")]
HOST = "desk.example.com"
CHANNEL = 3


def _exactly(count):
    read = b""
    while len(read) < count:
        piece = os.read(CHANNEL, count - len(read))
        if not piece:
            raise RuntimeError("the host is gone")
        read += piece
    return read


def _forged(raw, answers):
    os.write(CHANNEL, base64.b64decode(raw))
    said = []
    for _ in range(answers):
        head = _exactly(8)
        said.append(json.loads(_exactly(int.from_bytes(head[4:], "big"))))
    return json.dumps(said)


@tool(safety="read", needs=[Storage("tool")], limits=Limits(wall_seconds=3))
def forge(ctx: Context, raw: Long, answers: int) -> Long:
    """Write bytes of its own to the channel and hear the answers."""
    return _forged(raw, answers)


@tool(safety="read", needs=[Storage("agent")], limits=Limits(wall_seconds=10))
def unread(ctx: Context, questions: int) -> str:
    """Ask for a long row, again and again, and read none of the answers."""
    body = json.dumps({"number": 1, "ask": "get", "scope": "agent", "key": "k"}).encode()
    for _ in range(questions):
        os.write(CHANNEL, b"RF" + bytes([1, 8]) + len(body).to_bytes(4, "big") + body)
        time.sleep(0.05)
    return "asked"


@tool(safety="read", limits=Limits(wall_seconds=3))
def stranger(ctx: Context, raw: Long, answers: int) -> Long:
    """The same without any storage."""
    return _forged(raw, answers)


@tool(safety="read", needs=EVERY)
def does(ctx: Context, steps: Long) -> Long:
    """Do the steps and say what each came to."""
    return _does(ctx, steps)


@tool(safety="read", needs=EVERY)
def also(ctx: Context, steps: Long) -> Long:
    """Do the steps as another tool."""
    return _does(ctx, steps)


@tool(safety="read", needs=[Storage("tool")])
def lone(ctx: Context, steps: Long) -> Long:
    """Do the steps with rows of its own alone."""
    return _does(ctx, steps)


def _does(ctx, steps):
    said = []
    for name, args, options in json.loads(steps):
        try:
            said.append(getattr(ctx.storage, name)(*args, **options))
        except RingfenceError as refused:
            said.append({"code": refused.code, "message": refused.message})
    return json.dumps(said)


@tool(safety="read", needs=[Storage("agent"), Network(HOST), Secrets("DESK_KEY", hosts=[HOST], reveal=True)])
def leaks(ctx: Context, how: str) -> str:
    """Try to keep a secret."""
    value, mark = ctx.secrets["DESK_KEY"].raw(), ctx.secrets["DESK_KEY"].bearer()
    rows = {
        "value": ("k", {"a": [value]}),
        "encoded": ("k", value.encode().hex()),
        "key": (value, 1),
        "placeholder": ("k", mark),
    }
    key, kept = rows[how]
    ctx.storage.set(key, kept)
    return "kept"


@tool(safety="read", needs=[Storage("agent"), Network(HOST), Secrets("DESK_KEY", hosts=[HOST], reveal=True)])
def swaps(ctx: Context) -> bool:
    """Try to keep a secret by a swap."""
    return ctx.storage.compare_and_set("k", None, ctx.secrets["DESK_KEY"].raw())
'''
SCOPES = ("tool", "session", "agent")


@pytest.fixture
async def pantry(tmp_path: Path) -> AsyncIterator[Pantry]:
    async with opened(tmp_path, code=TOOLS) as pantry:
        yield pantry


def frame(body: bytes, *, kind: int = 8, length: int | None = None) -> bytes:
    return struct.pack("!2sBBI", b"RF", 1, kind, len(body) if length is None else length) + body


def question(**words: Any) -> bytes:
    return json.dumps({"number": 1, "ask": "get", "scope": "tool", "key": "k", **words}).encode()


async def forged(pantry: Pantry, raw: bytes, *, answers: int = 1, tool: str = "forge") -> Outcome:
    return await pantry.call(tool, {"raw": base64.b64encode(raw).decode(), "answers": answers})


async def fill(pantry: Pantry, *, agent: str = "ana", id: str = "s-ana") -> None:
    mine = [step("set", "k", f"{agent} {scope}", scope=scope) for scope in SCOPES]
    assert await pantry.does(*mine, agent=agent, id=id) == [None] * 3


def reading() -> list[list[Any]]:
    return [*(step("get", "k", scope=scope) for scope in SCOPES), *(step("list", scope=scope) for scope in SCOPES)]


async def test_no_scope_crosses_agents(pantry: Pantry) -> None:
    await fill(pantry)
    nothing: list[Any] = [None] * 3 + [[]] * 3
    assert await pantry.does(*reading(), agent="ben") == nothing
    assert await pantry.does(*(step("delete", "k", scope=scope) for scope in SCOPES), agent="ben") == [False] * 3
    await fill(pantry, agent="ben", id="s-ben")
    assert await pantry.does(*reading(), id="s-ana") == ["ana tool", "ana session", "ana agent", *[["k"]] * 3]


async def test_rows_of_a_tool_are_no_other_tools_and_those_of_an_agent_are(pantry: Pantry) -> None:
    await fill(pantry)
    assert await pantry.does(*reading(), tool="also", id="s-ana") == [
        None, "ana session", "ana agent", [], ["k"], ["k"],
    ]  # fmt: skip


async def test_rows_of_a_session_are_no_other_sessions(pantry: Pantry) -> None:
    await fill(pantry)
    assert await pantry.does(*reading(), id="s-other") == ["ana tool", None, "ana agent", ["k"], [], ["k"]]


async def test_a_session_or_key_named_like_something_else_leads_nowhere_else(pantry: Pantry) -> None:
    await fill(pantry)
    for name in ("does", "ana", "agent", "s-ana%"):
        assert (await pantry.does(*reading(), id=name))[1] is None
    tricks = ["../ana/k", "ana\x1fk", "k' OR '1'='1", "%", "_", "s-ana/k", "*"]
    safe = [key for key in tricks if key.isprintable()]
    assert await pantry.does(*(step("get", key) for key in safe), tool="lone") == [None] * len(safe)
    assert await pantry.does(*(step("list", key) for key in safe), tool="lone") == [[]] * len(safe)


@pytest.mark.parametrize("scope", ["session", "agent"])
@pytest.mark.parametrize(
    "words",
    [
        {"ask": "get", "key": "k"},
        {"ask": "list", "prefix": "", "after": ""},
        {"ask": "set", "key": "k", "value": 1, "ttl": None},
        {"ask": "delete", "key": "k"},
        {"ask": "compare_and_set", "key": "k", "expected": None, "new": 1, "ttl": None},
    ],
    ids=lambda words: str(words["ask"]),
)
async def test_a_scope_that_was_not_declared_is_refused_and_told_to_the_operator(
    pantry: Pantry, scope: str, words: dict[str, Any]
) -> None:
    await fill(pantry)
    body = json.dumps({"number": 1, "scope": scope, **words}).encode()
    outcome = await forged(pantry, frame(body))
    assert isinstance(outcome, Completed), outcome
    (said,) = json.loads(outcome.output)
    assert said["fault"]["code"] == "not_available"
    assert await pantry.does(*reading(), id="s-ana") == ["ana tool", "ana session", "ana agent", *[["k"]] * 3]
    message = f"not_available: storage of scope `{scope}` was not granted to this call"
    assert {"what": "storage_refusal", "detail": [message]} in await pantry.noticed()


@pytest.mark.parametrize(
    "body",
    [
        question(agent="ben"),
        question(owner="does"),
        question(tool="does"),
        question(session="s-ana"),
        question(namespace=["ana", "agent", ""]),
        question(ask="drop"),
        question(ask=["get"]),
        question(ask="set"),
        question(scope="all"),
        question(scope=["tool"]),
        question(scope={"agent": "ben"}),
        b'{"number":1,"ask":"get","scope":"tool"}',
        b"[]",
        b"null",
        b'"get"',
    ],
    ids=lambda body: body.decode()[-40:],
)
async def test_a_question_of_another_shape_is_refused_whole_and_told_to_the_operator(
    pantry: Pantry, body: bytes
) -> None:
    await fill(pantry)
    outcome = await forged(pantry, frame(body))
    assert isinstance(outcome, Completed), outcome
    (said,) = json.loads(outcome.output)
    assert said["fault"]["code"] in ("protocol_error", "not_available")
    assert "ana" not in json.dumps(said)
    assert [event["what"] for event in await pantry.noticed()] == ["storage_refusal"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"number":1,"number":2}',
        b'{"number":1,"ask":"set","scope":"tool","key":"k","value":NaN,"ttl":null}',
        b'{"number":1,"ask":"set","scope":"tool","key":"k","value":1e999,"ttl":null}',
        b'{"number":1,"ask":"set","scope":"tool","key":"k","value":1,"ttl":1e999}',
        b'{"number":1,"ask":"set","scope":"tool","key":"k","value":' + b"9" * 100_000 + b',"ttl":null}',
        b'{"number":1,"ask":"set","scope":"tool","key":"k","value":' + b"[" * 50_000 + b"]" * 50_000 + b',"ttl":null}',
        b'{"number":1,"ask":"set","scope":"tool","key":"k","value":"\\ud800","ttl":null}',
        b'{"number":1,"ask":"set","scope":"tool","key":"k","value":"\xff","ttl":null}',
        b'{"number":1,"ask":"get","scope":"tool","key":"\\u0000"}',
        b'{"number":1,"ask":"list","scope":"tool","prefix":"\\u0000","after":""}',
    ],
    ids=lambda body: body[:70].decode("latin-1")[-24:],
)
async def test_bytes_that_are_no_plain_json_are_refused_and_keep_nothing(pantry: Pantry, body: bytes) -> None:
    outcome = await forged(pantry, frame(body))
    assert isinstance(outcome, Completed), outcome
    (said,) = json.loads(outcome.output)
    assert said["fault"]["code"] == "tool_error"
    assert pantry.rows() == []


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (frame(question()) * 2, "protocol_error"),
        (frame(b"x", length=0xFFFF_FFFF), "protocol_error"),
        (frame(b"x", length=4 << 20), "protocol_error"),
        (frame(b"{}", kind=9), "protocol_error"),
        (frame(b"", kind=2), "protocol_error"),
        (b"RX" + frame(question())[2:], "protocol_error"),
        (frame(b"1", kind=4) + frame(question()), "protocol_error"),
        (frame(question(), length=len(question()) + 5), "wall_limit"),
        (frame(question())[:5], "wall_limit"),
    ],
    ids=["two at once", "endless", "too long", "an answer", "a job", "no magic", "after the reply", "cut", "drip"],
)
async def test_frames_out_of_turn_end_the_call(pantry: Pantry, raw: bytes, code: str) -> None:
    outcome = await forged(pantry, raw, answers=2)
    assert isinstance(outcome, Failed), outcome
    assert outcome.code == code
    assert await pantry.does(step("get", "k"), tool="lone") == [None]


async def test_a_question_before_the_last_answer_was_read_ends_the_call(pantry: Pantry) -> None:
    """What nobody reads is held by the host, and each answer more with it."""
    row = "x" * 60_000
    assert await pantry.does(step("set", "k", row, scope="agent")) == [None]
    outcome = await pantry.call("unread", {"questions": 40})
    assert isinstance(outcome, Failed), outcome
    assert (outcome.code, "before the answer to the last was read" in outcome.message) == ("protocol_error", True)
    assert await pantry.does(step("get", "k", scope="agent")) == [row]


async def test_a_tool_without_storage_is_heard_once_and_asks_nothing(pantry: Pantry) -> None:
    await fill(pantry)
    for body in (question(), question(scope="agent")):
        outcome = await forged(pantry, frame(body), tool="stranger")
        assert isinstance(outcome, Failed), outcome
        assert outcome.code in ("protocol_error", "wall_limit")
        assert "ana" not in outcome.message


@pytest.mark.req("SEC-2", "SEC-3")
@pytest.mark.parametrize("how", ["value", "encoded", "key", "placeholder"])
async def test_a_secret_is_not_kept_and_the_operator_is_told(pantry: Pantry, how: str) -> None:
    outcome = await pantry.call("leaks", {"how": how})
    assert isinstance(outcome, Failed), outcome
    assert outcome.code == "secret_misplaced"
    assert pantry.rows() == []
    assert "storage_refusal" in [event["what"] for event in await pantry.noticed()]
    kept = [file for file in pantry.folder.rglob("*") if file.is_file() and file.name != "desk.key"]
    assert VALUE.encode() not in b"".join(file.read_bytes() for file in kept)


@pytest.mark.req("SEC-3")
async def test_a_secret_is_not_kept_by_a_swap(pantry: Pantry) -> None:
    outcome = await pantry.call("swaps", {})
    assert isinstance(outcome, Failed), outcome
    assert (outcome.code, pantry.rows()) == ("secret_misplaced", [])
