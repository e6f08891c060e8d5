"""An author tests a tool that keeps rows without a jail, and finds what the jail would give."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from ringfence import Context, Storage, tool
from ringfence.errors import CallFailed, Misuse
from ringfence.testing import dangerously_call, memory_storage

pytestmark = pytest.mark.req("OPS-6", "STO-1")


@tool(safety="write", idempotency="optional", needs=[Storage("tool")])
def count(ctx: Context, name: str) -> int:
    """Count how often a name came."""
    number = int(ctx.storage.get(name, 0)) + 1
    ctx.storage.set(name, number)
    return number


@tool(safety="write", idempotency="optional", needs=[Storage("tool")])
async def claim(ctx: Context, name: str) -> bool:
    """Take a name that nobody has."""
    return bool(await ctx.storage.compare_and_set(name, None, ctx.agent))


def context(storage: Any) -> Context:
    return Context(agent="ana", session="s", idempotency_key="k", clients={"storage": storage})


async def test_a_tool_finds_again_what_it_kept() -> None:
    ctx = context(memory_storage("tool"))
    assert [await dangerously_call(count, {"name": "a"}, context=ctx) for _ in range(2)] == [1, 2]
    assert await dangerously_call(count, {"name": "a"}, context=context(memory_storage("tool"))) == 1


async def test_an_async_tool_awaits_it() -> None:
    ctx = context(memory_storage("tool", style="awaited"))
    assert [await dangerously_call(claim, {"name": "a"}, context=ctx) for _ in range(2)] == [True, False]


def test_it_keeps_and_refuses_as_the_real_one_does() -> None:
    at = 0.0
    storage: Any = memory_storage("tool", "agent", now=lambda: at)
    storage.set("a/1", {"x": 1.0}, ttl=60, scope="tool")
    storage.set("a/2", None, scope="tool")
    assert storage.list("a/", scope="tool") == ["a/1", "a/2"]
    assert storage.list(scope="agent") == []
    assert (storage.get("a/1", scope="tool"), storage.get("a/2", 7, scope="tool")) == ({"x": 1}, None)
    at = 60.0
    assert (storage.get("a/1", scope="tool"), storage.delete("a/2", scope="tool")) == (None, True)
    for wrong, code in (({"scope": "session"}, "not_available"), ({}, "tool_error")):
        with pytest.raises(CallFailed) as caught:
            storage.get("k", **wrong)
        assert caught.value.code == code
    with pytest.raises(CallFailed, match="1 to 512 bytes"):
        storage.set("", 1, scope="tool")


def test_it_is_for_tests_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for runner in ("pytest", "unittest"):
        monkeypatch.delitem(sys.modules, runner, raising=False)
    with pytest.raises(Misuse, match="refused outside tests"):
        memory_storage("tool")
