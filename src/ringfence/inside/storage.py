"""`ctx.storage`: rows that the tool, the session or the agent keeps from one call to the next.

Takes: the scopes that were granted, and the call's own channel.  Gives: plain JSON values by key.
Never: opens anything; the host answers, within a namespace that it derives itself.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from itertools import count
from typing import Any, Protocol

from ringfence.errors import CallFailed
from ringfence.inside import wire
from ringfence.inside.storage_wire import MOST_ANSWER, MOST_KEYS, pack_question, read_answer

_CHUNK = 262_144
_GONE = "the host no longer answers"


class Asks(Protocol):
    """Whoever answers, and however that is reached."""

    def ask(self, ask: str, scope: str, words: Mapping[str, Any]) -> Any: ...

    async def ask_awaited(self, ask: str, scope: str, words: Mapping[str, Any]) -> Any: ...


class Line:
    """Asks the host: one question at a time, whoever in this process has one."""

    def __init__(self, channel: int = wire.CHANNEL) -> None:
        self._channel = channel
        self._numbers = count(1)
        self._held = threading.Lock()
        self._awaited = asyncio.Lock()

    def ask(self, ask: str, scope: str, words: Mapping[str, Any]) -> Any:
        """The answer, blocking."""
        with self._held:
            self._send(ask, scope, words)
            try:
                kind, body = wire.receive(self._channel, most=MOST_ANSWER)
            except EOFError:
                raise CallFailed(_GONE) from None
        return _answered(kind, body)

    async def ask_awaited(self, ask: str, scope: str, words: Mapping[str, Any]) -> Any:
        """The answer. A question that is out is heard to its end, whether or not anybody still waits for it."""
        return await asyncio.shield(asyncio.ensure_future(self._ask_in_turn(ask, scope, words)))

    async def _ask_in_turn(self, ask: str, scope: str, words: Mapping[str, Any]) -> Any:
        async with self._awaited:
            self._send(ask, scope, words)
            reader = wire.FrameReader(most=MOST_ANSWER)
            while (frame := reader.frame()) is None:
                await _readable(self._channel)
                piece = os.read(self._channel, _CHUNK)
                if not piece:
                    raise CallFailed(_GONE)
                reader.feed(piece)
        return _answered(*frame)

    def _send(self, ask: str, scope: str, words: Mapping[str, Any]) -> None:
        body = pack_question(next(self._numbers), ask, scope, words)
        try:
            wire.send(self._channel, wire.pack(wire.Kind.QUESTION, body))
        except OSError:
            raise CallFailed(_GONE) from None


def _answered(kind: wire.Kind, body: bytes) -> Any:
    if kind is not wire.Kind.ANSWER:
        raise wire.Malformed("an answer is a frame of its own kind")
    return read_answer(body)[1]


async def _readable(channel: int) -> None:
    loop = asyncio.get_running_loop()
    arrived: asyncio.Future[None] = loop.create_future()
    loop.add_reader(channel, _settle, arrived)
    try:
        await arrived
    finally:
        loop.remove_reader(channel)


def _settle(arrived: asyncio.Future[None]) -> None:
    if not arrived.done():
        arrived.set_result(None)


class _Scoped:
    """What both styles know: which scopes there are, and how a question is worded."""

    def __init__(self, scopes: Sequence[str], *, line: Asks) -> None:
        self._scopes = tuple(scopes)
        self._line = line

    def _scope(self, named: str | None) -> str:
        if named is not None:
            return named
        if len(self._scopes) == 1:
            return self._scopes[0]
        listed = ", ".join(f"`{scope}`" for scope in self._scopes)
        raise CallFailed(f"the tool has storage of several scopes: say which by `scope=`, one of {listed}")


class Storage(_Scoped):
    """Blocking, for tools that are plain functions."""

    def get(self, key: str, default: Any = None, *, scope: str | None = None) -> Any:
        """The value under a key; `default` where there is none, or its time is over."""
        return _or_default(self._line.ask("get", self._scope(scope), {"key": key}), default)

    def set(self, key: str, value: Any, *, ttl: float | timedelta | None = None, scope: str | None = None) -> None:
        """Keep a value under a key, for `ttl` seconds or for good."""
        self._line.ask("set", self._scope(scope), {"key": key, "value": value, "ttl": _seconds(ttl)})

    def delete(self, key: str, *, scope: str | None = None) -> bool:
        """Remove a key; whether it was there."""
        return bool(self._line.ask("delete", self._scope(scope), {"key": key}))

    def list(self, prefix: str = "", *, scope: str | None = None) -> list[str]:
        """Every key that begins so, in order."""
        found: list[str] = []
        while True:
            page = self._line.ask("list", self._scope(scope), _page(prefix, found))
            found += page
            if len(page) < MOST_KEYS:
                return found

    def compare_and_set(
        self,
        key: str,
        expected: Any,
        new: Any,
        *,
        ttl: float | timedelta | None = None,
        scope: str | None = None,
    ) -> bool:
        """Set a key if `get` would give `expected`; whether it did. Of several who try at once, one does."""
        words = {"key": key, "expected": expected, "new": new, "ttl": _seconds(ttl)}
        return bool(self._line.ask("compare_and_set", self._scope(scope), words))


class AwaitedStorage(_Scoped):
    """The same names, awaited, for tools that are coroutines."""

    async def get(self, key: str, default: Any = None, *, scope: str | None = None) -> Any:
        return _or_default(await self._line.ask_awaited("get", self._scope(scope), {"key": key}), default)

    async def set(
        self, key: str, value: Any, *, ttl: float | timedelta | None = None, scope: str | None = None
    ) -> None:
        words = {"key": key, "value": value, "ttl": _seconds(ttl)}
        await self._line.ask_awaited("set", self._scope(scope), words)

    async def delete(self, key: str, *, scope: str | None = None) -> bool:
        return bool(await self._line.ask_awaited("delete", self._scope(scope), {"key": key}))

    async def list(self, prefix: str = "", *, scope: str | None = None) -> list[str]:
        found: list[str] = []
        while True:
            page = await self._line.ask_awaited("list", self._scope(scope), _page(prefix, found))
            found += page
            if len(page) < MOST_KEYS:
                return found

    async def compare_and_set(
        self,
        key: str,
        expected: Any,
        new: Any,
        *,
        ttl: float | timedelta | None = None,
        scope: str | None = None,
    ) -> bool:
        words = {"key": key, "expected": expected, "new": new, "ttl": _seconds(ttl)}
        return bool(await self._line.ask_awaited("compare_and_set", self._scope(scope), words))


def storage_client(scopes: Sequence[str], *, style: str) -> Storage | AwaitedStorage:
    """The client of one call, in the tool's own style."""
    kind: Callable[..., Storage | AwaitedStorage] = Storage if style == "blocking" else AwaitedStorage
    return kind(scopes, line=Line())


def _or_default(found: Any, default: Any) -> Any:
    """Nothing there is an empty list; a value is a list of one, so that `null` can be told from it."""
    return found[0] if found else default


def _page(prefix: str, found: Sequence[str]) -> dict[str, str]:
    return {"prefix": prefix, "after": found[-1] if found else ""}


def _seconds(ttl: float | timedelta | None) -> float | None:
    return ttl.total_seconds() if isinstance(ttl, timedelta) else ttl
