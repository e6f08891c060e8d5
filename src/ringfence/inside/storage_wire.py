"""Questions about rows, as a jail asks them and its host answers: one at a time, over the call's own channel.

Takes: plain values.  Gives: bodies of frames, and the values back.
Never: names whose rows are meant, but by the word for a scope.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ringfence.contract.values import read_canonical
from ringfence.errors import CallFailed

MOST_KEY_BYTES = 512
MOST_VALUE_BYTES = 1 << 20
MOST_KEYS = 500
# A swap has two values; the rest is a key, a scope and the words around them.
MOST_QUESTION = 2 * MOST_VALUE_BYTES + 16_384
MOST_ANSWER = 2 * MOST_VALUE_BYTES + 16_384

# What a question of each kind holds besides its number, its kind and its scope.
QUESTIONS: Mapping[str, frozenset[str]] = {
    "get": frozenset({"key"}),
    "set": frozenset({"key", "value", "ttl"}),
    "delete": frozenset({"key"}),
    "list": frozenset({"prefix", "after"}),
    "compare_and_set": frozenset({"key", "expected", "new", "ttl"}),
}


def pack_question(number: int, ask: str, scope: str, words: Mapping[str, Any]) -> bytes:
    """A question; a value that is no JSON, or too large to be asked about, is an error here already."""
    try:
        spelled = json.dumps({"number": number, "ask": ask, "scope": scope, **words}, **_COMPACT)  # type: ignore[arg-type]
        content = spelled.encode()
    except (TypeError, ValueError, RecursionError) as problem:
        raise CallFailed(f"`ctx.storage` keeps JSON alone: {problem}", code="tool_error") from None
    if len(content) > MOST_QUESTION:
        raise CallFailed(f"a value of storage has at most {MOST_VALUE_BYTES} bytes", code="storage_quota")
    return content


_COMPACT = {"ensure_ascii": False, "allow_nan": False, "separators": (",", ":")}


def read_answer(body: bytes) -> tuple[int, Any]:
    """The number of the question and what there is to say; a refusal is raised."""
    answer: dict[str, Any] = read_canonical(body)
    fault = answer.get("fault")
    if fault is not None:
        raise CallFailed(str(fault["message"]), code=str(fault["code"]), remedy=str(fault["remedy"]))
    return int(answer["number"]), answer["value"]
