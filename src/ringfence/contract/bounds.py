"""Makes a schema closed and bounded, and refuses the parts of it that accept anything.

Takes: the JSON Schema that pydantic derived.  Gives: the schema that is enforced.
Never: loosens a bound the author gave.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ringfence.contract.shapes import is_object
from ringfence.errors import DeclarationRefused

STRING_CHARACTERS = 8_192
COLLECTION_ITEMS = 1_000
DEPTH = 16
SCHEMA_DEPTH = 64
INPUT_BYTES = 256 * 1024
SAFE_INTEGER = 2**53 - 1

Schema = dict[str, Any]

# A node that has none of these says nothing about its value, so it would accept anything.
_CONSTRAINING = frozenset({"type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const"})
_SUBSCHEMA_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SUBSCHEMA_MAPS = ("properties", "patternProperties", "$defs")
_SUBSCHEMAS = (
    "items",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedItems",
)
# Keywords that would make a validator look elsewhere for the schema.
_ELSEWHERE = ("$id", "$schema", "$dynamicRef", "$recursiveRef", "$anchor", "$dynamicAnchor", "$vocabulary")


def bound_input(schema: Schema) -> Schema:
    """Closed, local, and with default bounds wherever the author gave none."""
    return _rebuild(schema, where="input", finish=_bounded)


def close_output(schema: Schema) -> Schema:
    """Closed and local; sizes are held by the output limit instead."""
    return _rebuild(schema, where="the return type", finish=lambda node: node)


def _rebuild(schema: Schema, *, where: str, finish: Callable[[Schema], Schema]) -> Schema:
    known = {f"#/$defs/{name}" for name in schema.get("$defs", {})}
    return _node(schema, where=where, finish=finish, known=known, depth=SCHEMA_DEPTH)


def _node(node: Any, *, where: str, finish: Callable[[Schema], Schema], known: set[str], depth: int) -> Schema:
    if depth == 0:
        raise DeclarationRefused(f"{where} is described more than {SCHEMA_DEPTH} levels deep")
    if not is_object(node) or not _CONSTRAINING & node.keys():
        raise DeclarationRefused(
            f"{where} accepts anything", remedy="name a type instead of `Any`, `object`, bare `dict` or bare `list`"
        )
    _require_local(node, where=where, known=known)
    built, inner = dict(node), partial(_node, finish=finish, known=known, depth=depth - 1)
    for key in _SUBSCHEMA_LISTS:
        if key in node:
            built[key] = [inner(sub, where=where) for sub in node[key]]
    for key in _SUBSCHEMA_MAPS:
        if key in node:
            built[key] = {name: inner(sub, where=_place(where, key, name)) for name, sub in node[key].items()}
    for key in _SUBSCHEMAS:
        if key in node and not isinstance(node[key], bool):
            built[key] = inner(node[key], where=f"the content of {where}")
    return finish(_closed(built, where=where))


def _place(where: str, key: str, name: str) -> str:
    if key == "$defs":
        return f"type `{name}`"
    return f"parameter `{name}`" if where == "input" else f"field `{name}` of {where}"


def _require_local(node: Schema, *, where: str, known: set[str]) -> None:
    elsewhere = [key for key in _ELSEWHERE if key in node]
    if elsewhere or ("$ref" in node and node["$ref"] not in known):
        culprit = elsewhere[0] if elsewhere else str(node["$ref"])
        raise DeclarationRefused(
            f"{where} refers to a schema elsewhere (`{culprit}`)", remedy="define every type in the same module"
        )


def _closed(node: Schema, *, where: str) -> Schema:
    if node.get("type") == "array" and "items" not in node and "prefixItems" not in node:
        raise DeclarationRefused(f"{where} is a list of anything", remedy="write `list[…]` with the type of its items")
    if node.get("type") != "object":
        return node
    extra = node.get("additionalProperties", False)
    if extra is True or ("properties" not in node and extra is False and node.get("title") is None):
        raise DeclarationRefused(
            f"{where} is a mapping to anything", remedy="write `dict[str, …]` or a model that forbids extra fields"
        )
    return {**node, "additionalProperties": extra}


def _bounded(node: Schema) -> Schema:
    kind = node.get("type")
    if kind == "string":
        return {"maxLength": STRING_CHARACTERS, **node}
    if kind == "array":
        return {"maxItems": COLLECTION_ITEMS, **node}
    if kind == "object":
        return {"maxProperties": COLLECTION_ITEMS, **node}
    if kind == "integer":
        return _bounded_integer(node)
    return node


def _bounded_integer(node: Schema) -> Schema:
    low = max(node.get("minimum", -SAFE_INTEGER), -SAFE_INTEGER)
    high = min(node.get("maximum", SAFE_INTEGER), SAFE_INTEGER)
    return {**node, "minimum": low, "maximum": high}
