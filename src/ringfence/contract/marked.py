"""Finds the argument values that an author marked, at whatever depth they stand.

Takes: an input schema, the keyword of a mark, and arguments that fit.  Gives: each marked value with its place.
Never: misses one because a list, a nested model, a reference, a choice or a default stands between.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jsonschema_rs

from ringfence.contract.shapes import is_list, is_object
from ringfence.errors import DeclarationRefused

Schema = dict[str, Any]

_DEEPEST = 128
# Under these a mark would say nothing about any one value, so nothing could hold it.
_NOWHERE = ("not", "if", "dependentSchemas")
_ALWAYS = ("allOf",)
_CHOICES = ("anyOf", "oneOf")
_EITHER = ("then", "else")
_EACH_ITEM = ("contains", "unevaluatedItems")
_OTHER_MEMBERS = ("additionalProperties", "unevaluatedProperties")


@dataclass(frozen=True, kw_only=True)
class Found:
    """One marked value: where it stands, what the mark says, and the value itself."""

    place: str
    mark: Any
    value: Any


class Marked:
    """One keyword in one schema; a schema without it costs nothing at a call."""

    def __init__(self, schema: Schema, *, keyword: str) -> None:
        self._schema = schema
        self._keyword = keyword
        self.present = _mentions(schema, keyword)
        self._choices: dict[int, jsonschema_rs.Draft202012Validator] = {}
        if self.present:
            _require_placed(schema, keyword)

    @property
    def marks(self) -> frozenset[str]:
        """Everything that a mark in this schema says."""
        return frozenset(map(str, _marks(self._schema, self._keyword))) if self.present else frozenset()

    def found_in(self, arguments: Any) -> tuple[Found, ...]:
        """Every marked value among the arguments; a value that was left out counts as its default."""
        return tuple(self._walk(self._schema, arguments, (), _DEEPEST)) if self.present else ()

    def _walk(self, node: Any, value: Any, place: tuple[str, ...], left: int) -> Iterator[Found]:
        if not is_object(node):
            return
        if left == 0:
            raise RecursionError("the schema refers to itself without end")
        if self._keyword in node:
            yield from _leaves(value, mark=node[self._keyword], place=place)
        for below in self._same_value(node, value):
            yield from self._walk(below, value, place, left - 1)
        for below, inner, key in _inside(node, value):
            yield from self._walk(below, inner, (*place, key), left - 1)

    def _same_value(self, node: Schema, value: Any) -> Iterator[Any]:
        if "$ref" in node:
            yield self._schema["$defs"][str(node["$ref"]).removeprefix("#/$defs/")]
        for key in _ALWAYS:
            yield from node.get(key, ())
        for key in _EITHER:
            if key in node:
                yield node[key]
        for key in _CHOICES:
            branches = node.get(key, [])
            # Where no branch fits on its own, all of them speak: a mark is lost by no doubt.
            yield from [branch for branch in branches if self._fits(branch, value)] or branches

    def _fits(self, branch: Schema, value: Any) -> bool:
        validator = self._choices.get(id(branch))
        if validator is None:
            alone = {**branch, "$defs": self._schema.get("$defs", {})}
            validator = jsonschema_rs.Draft202012Validator(
                alone, validate_formats=False, pattern_options=jsonschema_rs.RegexOptions(), offline=True
            )
            self._choices[id(branch)] = validator
        return validator.is_valid(value)


def _inside(node: Schema, value: Any) -> Iterator[tuple[Any, Any, str]]:
    """The schemas of a value's parts, each with the part and its key."""
    if is_object(value):
        yield from _members(node, value)
    elif is_list(value):
        yield from _items(node, value)


def _members(node: Schema, value: dict[str, Any]) -> Iterator[tuple[Any, Any, str]]:
    named = node.get("properties", {})
    for name, below in named.items():
        if name in value:
            yield below, value[name], name
        elif is_object(below) and "default" in below:
            yield below, below["default"], name
    for name, inner in value.items():
        yield node.get("propertyNames"), name, name
        for below in node.get("patternProperties", {}).values():
            yield below, inner, name
        if name not in named:
            yield from ((node.get(key), inner, name) for key in _OTHER_MEMBERS)


def _items(node: Schema, value: list[Any]) -> Iterator[tuple[Any, Any, str]]:
    first = node.get("prefixItems", [])
    for at, inner in enumerate(value):
        yield first[at] if at < len(first) else node.get("items"), inner, str(at)
        yield from ((node.get(key), inner, str(at)) for key in _EACH_ITEM)


def _leaves(value: Any, *, mark: Any, place: tuple[str, ...]) -> Iterator[Found]:
    """A marked list is a mark on each of its items; nothing at all is nobody."""
    if is_list(value):
        for at, inner in enumerate(value):
            yield from _leaves(inner, mark=mark, place=(*place, str(at)))
    elif value is not None:
        yield Found(place=".".join(place), mark=mark, value=value)


def _mentions(node: Any, keyword: str) -> bool:
    return next(_marks(node, keyword), None) is not None


def _marks(node: Any, keyword: str) -> Iterator[Any]:
    if is_object(node):
        for key, below in node.items():
            if key == keyword:
                yield below
            yield from _marks(below, keyword)
    elif is_list(node):
        for below in node:
            yield from _marks(below, keyword)


def _require_placed(node: Any, keyword: str) -> None:
    if is_object(node):
        for key, below in node.items():
            if key in _NOWHERE and _mentions(below, keyword):
                raise DeclarationRefused(
                    f"`{keyword}` under `{key}` marks no value",
                    remedy="mark the argument itself, not a condition on it",
                )
            _require_placed(below, keyword)
    elif is_list(node):
        for below in node:
            _require_placed(below, keyword)
