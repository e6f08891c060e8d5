"""Two sets of arguments are alike when a person would take one for the other.

Takes: parsed arguments and the schema that they fit.  Gives: one digest for all spellings that read the same.
Never: takes two numbers, or two words that differ in a letter, for the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from ringfence.contract.fingerprint import canonical, digest
from ringfence.registry.names import skeleton

_STOPS = ".,;:!?"


def likeness(arguments: Mapping[str, Any], *, schema: Mapping[str, Any]) -> str:
    """What is left of the arguments without case, white space, twin letters, full stops, order and empty values."""
    return digest(canonical(_read({**_defaults(schema), **arguments})))


def _defaults(schema: Mapping[str, Any]) -> dict[str, Any]:
    """What a call means by leaving arguments out."""
    properties: Mapping[str, Mapping[str, Any]] = schema.get("properties", {})
    return {name: shape["default"] for name, shape in properties.items() if "default" in shape}


def _read(value: object) -> Any:
    if isinstance(value, str):
        return skeleton("".join(word.rstrip(_STOPS) for word in value.split()))
    if isinstance(value, Mapping):
        return _members(cast("Mapping[str, object]", value))
    if isinstance(value, Sequence):
        return _items(cast("Sequence[object]", value))
    return value


def _members(value: Mapping[str, object]) -> dict[str, Any]:
    members = {key: _read(item) for key, item in value.items()}
    return {key: item for key, item in members.items() if not _is_empty(item)}


def _items(value: Sequence[object]) -> list[Any]:
    items = (_read(item) for item in value)
    return sorted((item for item in items if not _is_empty(item)), key=canonical)


def _is_empty(item: object) -> bool:
    return item is None or item in ("", [], {})
