"""What a tool can do to its placeholder, and another tool with it: nothing that gives the value or moves it."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ringfence.assembly import open_runtime
from ringfence.runtime import Completed, Failed, Outcome, Runtime
from tests.acceptance.secrets.far import Desk, a_desk, private_file

pytestmark = pytest.mark.req("SEC-1", "SEC-2")

VALUE = "zebra-orchid-41-lantern"
SHOWN = "[REDACTED:DESK_KEY]"
TOOLS = '''
import copy
import hashlib
import json
import logging
import pickle
import traceback
from typing import Annotated

from pydantic import Field

from ringfence import Context, Network, Secrets, Storage, tool

HERE = "{here}"
NEEDS = [Network(HERE), Secrets("DESK_KEY", hosts=[HERE]), Storage("agent")]
Text = Annotated[str, Field(max_length=50_000)]


def _fail(held):
    raise RuntimeError("with locals")


@tool(safety="read", needs=NEEDS)
def handle(ctx: Context) -> Text:
    """Do to the reference what leaks other values."""
    held = ctx.secrets["DESK_KEY"]
    ways = {{
        "pickle": lambda: repr(pickle.loads(pickle.dumps(held))), "deepcopy": lambda: repr(copy.deepcopy(held)),
        "copy": lambda: repr(copy.copy(held)), "f-string": lambda: f"{{held}} {{held!r}} {{held!s}} {{held:>40}}",
        "percent": lambda: "%s %r" % (held, held), "vars": lambda: repr(vars(held)), "join": lambda: "".join([held]),
        "slots": lambda: held.__dict__, "list": lambda: "".join(list(held)), "json": lambda: json.dumps([held]),
        "plus": lambda: held + "", "encode": lambda: held.encode().hex(), "raw": held.raw,
        "reversed": lambda: held[::-1], "sorted": lambda: "".join(sorted(held)),
    }}
    told = {{}}
    for name, way in ways.items():
        try:
            told[name] = str(way())
        except Exception as refused:
            told[name] = type(refused).__name__
    logging.getLogger("a library").warning("using %s and %r", held, held)
    ctx.log.warning("using %s", held)
    print(held, repr(held), vars(ctx))
    try:
        _fail(held)
    except RuntimeError as failure:
        stack = traceback.TracebackException.from_exception(failure, capture_locals=True)
        told["locals"] = "".join(stack.format())
    return json.dumps(told)


@tool(safety="read", needs=NEEDS)
def rework(ctx: Context, how: str) -> Text:
    """Make something else of the placeholder, print it, keep it, and try to use it."""
    word = ctx.secrets["DESK_KEY"].placeholder()
    made = {{
        "hash": hashlib.sha256(word.encode()).hexdigest(), "backwards": word[::-1], "half": word[: len(word) // 2],
        "another's end": word[:-1] + ("0" if word[-1] != "0" else "1"), "twice": word + word,
    }}[how]
    print(made)
    return ctx.http.get(f"https://{{HERE}}/", headers={{"Authorization": f"Bearer {{made}}"}}).text


@tool(safety="read", needs=NEEDS)
def keep(ctx: Context, how: str) -> str:
    """Leave the placeholder to another tool."""
    word = ctx.secrets["DESK_KEY"].placeholder()
    if how == "store":
        ctx.storage.set("kept", word)
    return word


@tool(safety="read", needs=[Network(HERE), Storage("agent")])
def ask_for_it(ctx: Context) -> str:
    """Ask for a secret that another tool declares."""
    return str(ctx.secrets["DESK_KEY"])


@tool(safety="read", needs=[Network(HERE), Secrets("OTHER_KEY", hosts=[HERE]), Storage("agent")])
def use_anothers(ctx: Context, word: str) -> str:
    """Use the placeholder of another tool's call."""
    if not word:
        return str(ctx.secrets["DESK_KEY"])
    return ctx.http.get(f"https://{{HERE}}/", headers={{"Authorization": f"Bearer {{word}}"}}).text


@tool(safety="read", needs=NEEDS)
def use_again(ctx: Context, word: str) -> str:
    """Use the placeholder of an earlier call."""
    return ctx.http.get(f"https://{{HERE}}/", headers={{"Authorization": f"Bearer {{word}}"}}).text
'''


@asynccontextmanager
async def opened(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[tuple[Runtime, Desk]]:
    async with a_desk(folder, monkeypatch) as desk:
        (folder / "desk_tools.py").write_text(TOOLS.format(here=desk.here))
        names = ["DESK_KEY", "OTHER_KEY"]
        config: dict[str, Any] = {
            "version": 1,
            "tools": {"modules": ["desk_tools"], "path": [str(folder)]},
            "people": {"bob": {"roles": ["operator"]}},
            "agents": {"ana": {"allowed_tools": ["*"], "network": desk.network, "secrets": {"allow": names}}},
            "secrets": {
                "DESK_KEY": {"file": private_file(folder / "desk.key", VALUE)},
                "OTHER_KEY": {"file": private_file(folder / "other.key", "walnut-harbour-88-cobalt")},
            },
            "sandbox": {"kind": "local"},
            "store": {"url": f"sqlite:///{folder}/state/ringfence.db"},
            "audit": {"anchor": f"{folder}/state/anchor.log", "signing_key": f"{folder}/state/audit.key"},
        }
        async with open_runtime(config, accept_as="bob") as runtime:
            yield runtime, desk


async def call(runtime: Runtime, tool: str, **arguments: str) -> Outcome:
    return await runtime.session(agent="ana").call(tool, arguments)


def kept(folder: Path) -> bytes:
    own = {"desk.key", "other.key"}
    return b"".join(each.read_bytes() for each in folder.rglob("*") if each.is_file() and each.name not in own)


def codes(outcome: Outcome) -> list[str]:
    assert isinstance(outcome, Failed), outcome
    return [refusal["code"] for refusal in outcome.effects["network"]["refusals"]]


async def test_no_way_to_write_a_reference_shows_its_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with opened(tmp_path, monkeypatch) as (runtime, _):
        outcome = await call(runtime, "handle")
        assert isinstance(outcome, Completed), outcome
        told = json.loads(str(outcome.output))
        sealed = json.dumps(await runtime.audit.raw(outcome.invocation_id, by="bob"))
    assert VALUE not in f"{outcome.as_dict()}{sealed}{caplog.text}" + kept(tmp_path).decode("latin-1")
    refused = {name for name, said in told.items() if said in ("TypeError", "AttributeError", "CallFailed")}
    assert refused == {"deepcopy", "copy", "vars", "slots", "raw"}
    assert {told[name] for name in ("join", "list", "plus")} == {SHOWN}
    assert (told["pickle"], told["f-string"].count(SHOWN), SHOWN in told["locals"]) == (repr(SHOWN), 4, True)


@pytest.mark.parametrize("how", ["hash", "backwards", "half", "another's end", "twice"])
async def test_what_is_made_of_a_placeholder_is_worth_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    async with opened(tmp_path, monkeypatch) as (runtime, desk):
        outcome = await call(runtime, "rework", how=how)
        # A hash is just a number, and twice is its own placeholder in its own slot.
        if how not in ("hash", "twice"):
            assert codes(outcome) == ["secret_misplaced"]
    assert VALUE.encode() not in kept(tmp_path)
    assert b"".join(desk.heard).count(VALUE.encode()) == (2 if how == "twice" else 0)


async def test_another_tool_of_the_same_agent_gets_neither_the_secret_nor_anything_for_its_placeholder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path, monkeypatch) as (runtime, desk):
        told = await call(runtime, "keep", how="tell")
        assert isinstance(told, Completed), told
        word = str(told.output)
        for tool, arguments in (("ask_for_it", {}), ("use_anothers", {"word": ""})):
            asked = await call(runtime, tool, **arguments)
            assert isinstance(asked, Failed), asked
            assert VALUE not in repr(asked)
        assert codes(await call(runtime, "use_anothers", word=word)) == ["secret_misplaced"]
        assert codes(await call(runtime, "use_again", word=word)) == ["secret_misplaced"]
        noticed = [event["body"]["what"] async for event in runtime.audit.export() if event["kind"] == "security_event"]
        stored = await call(runtime, "keep", how="store")
        assert isinstance(stored, Failed), stored
        assert stored.code == "secret_misplaced"
    assert noticed.count("network_refusal") == 2
    assert desk.heard == []
