"""What a caller asks for, and who is asking.

Takes: a session's identity and one request.  Gives: frozen values that travel through the pipeline.
Never: holds anything a model could use to become somebody else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeGuard

from ringfence.errors import Misuse

_LONGEST_WORD = 256
# The usual one first: to ask the other takes far longer.
_MAPPINGS = (dict, Mapping)


@dataclass(frozen=True, kw_only=True)
class Identity:
    """Who acts in one conversation: settled by whoever opened the session, never by the model."""

    session: str
    agent: str
    binding: str | None
    user: str | None
    typed_by: str | None

    def __post_init__(self) -> None:
        for each in fields(self):
            _require_word(getattr(self, each.name), what=f"a session's `{each.name}`")


@dataclass(frozen=True, kw_only=True)
class CallRequest:
    """One request of a model, not yet believed. `tool` and `arguments` are our own copies."""

    identity: Identity
    tool: str
    arguments: dict[str, Any]
    turn: str
    idempotency_key: str | None


def asked(
    identity: Identity, tool: object, arguments: object, *, turn: str, idempotency_key: str | None = None
) -> CallRequest:
    """A request as a caller hands it over, copied before anything waits; what no model could send is misuse."""
    if not isinstance(tool, str):
        raise Misuse(f"a tool is called by its name, not by a `{type(tool).__name__}`")
    if not _is_mapping(arguments):
        raise Misuse(f"arguments are a mapping, not a `{type(arguments).__name__}`")
    if idempotency_key is not None:
        _require_word(idempotency_key, what="an idempotency key")
    return CallRequest(
        identity=identity,
        tool=str.__str__(tool),
        arguments=_copied(arguments),
        turn=turn,
        idempotency_key=idempotency_key,
    )


def _is_mapping(value: object) -> TypeGuard[Mapping[Any, Any]]:
    return isinstance(value, _MAPPINGS)


def _copied(arguments: Mapping[Any, Any]) -> dict[Any, Any]:
    try:
        return dict(arguments)
    except Exception as error:
        raise Misuse(f"the arguments cannot be read: {type(error).__name__}") from error


def _require_word(word: object, *, what: str) -> None:
    """A word that can be kept and compared: text, not empty, not endless, and encodable."""
    if word is None:
        return
    if not isinstance(word, str):
        raise Misuse(f"{what} is text, not a `{type(word).__name__}`")
    if not 0 < len(word) <= _LONGEST_WORD or any("\ud800" <= letter <= "\udfff" for letter in word):
        raise Misuse(f"{what} is 1 to {_LONGEST_WORD} characters of text")
