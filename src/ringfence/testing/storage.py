"""`ctx.storage` for the author's unit tests: rows in memory, asked and refused in the words of the real one.

Takes: scopes, and whether the tool is a coroutine.  Gives: a client for `Context(clients={"storage": …})`.
Never: keeps anything for longer than itself, and outside tests it is refused.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, Literal

from ringfence.contract.values import read_canonical
from ringfence.errors import CallFailed
from ringfence.execution.storage_questions import Question, read_question
from ringfence.inside.storage import AwaitedStorage, Storage
from ringfence.inside.storage_wire import MOST_KEYS, pack_question
from ringfence.testing.only_tests import require_test_run


def memory_storage(
    *scopes: Literal["tool", "session", "agent"],
    style: Literal["blocking", "awaited"] = "blocking",
    now: Callable[[], float] = time.time,
) -> Storage | AwaitedStorage:
    """A client whose rows are its own; `awaited` for an `async def` tool."""
    require_test_run("memory_storage")
    line = MemoryLine(scopes, now=now)
    return Storage(scopes, line=line) if style == "blocking" else AwaitedStorage(scopes, line=line)


class MemoryLine:
    """Answers what a client asks, without a host."""

    def __init__(self, scopes: tuple[str, ...], *, now: Callable[[], float]) -> None:
        self._scopes = scopes
        self._now = now
        self._rows: dict[tuple[str, str], tuple[str, float | None]] = {}

    async def ask_awaited(self, ask: str, scope: str, words: Mapping[str, Any]) -> Any:
        return self.ask(ask, scope, words)

    def ask(self, ask: str, scope: str, words: Mapping[str, Any]) -> Any:
        question = read_question(pack_question(1, ask, scope, words))
        if question.scope not in self._scopes:
            raise CallFailed(f"storage of scope `{scope}` was not granted to this call", code="not_available")
        self._drop_expired()
        return read_canonical(json.dumps(self._answer(question)))

    def _answer(self, question: Question) -> Any:
        place = (question.scope, question.key)
        found = self._rows.get(place)
        match question.ask:
            case "get":
                return [] if found is None else [read_canonical(found[0])]
            case "delete":
                return self._rows.pop(place, None) is not None
            case "list":
                return self._keys(question)
            case "compare_and_set" if (found[0] if found else "null") != question.expected:
                return False
            case _:
                until = None if question.lasts is None else self._now() + question.lasts.total_seconds()
                self._rows[place] = (question.value, until)
                return True if question.ask == "compare_and_set" else None

    def _keys(self, question: Question) -> list[str]:
        mine = sorted(key for scope, key in self._rows if scope == question.scope)
        return [key for key in mine if key.startswith(question.prefix) and key > question.after][:MOST_KEYS]

    def _drop_expired(self) -> None:
        now = self._now()
        self._rows = {place: row for place, row in self._rows.items() if row[1] is None or row[1] > now}
