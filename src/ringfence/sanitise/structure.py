"""Structured output is cleaned leaf by leaf, keys too, and keeps its shape.

Takes: JSON and a limit in bytes for each string.  Gives: clean JSON, and findings that point at the leaf.
Never: merges two keys; passes on a value that JSON does not have, or an image that is not one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from ringfence.errors import CallFailed
from ringfence.sanitise.clean import DEFAULT_LIMIT, clean_output, is_plain
from ringfence.sanitise.finding import Finding
from ringfence.sanitise.media import media_problem
from ringfence.sanitise.visible import visible

JSON: TypeAlias = bool | int | float | str | list["JSON"] | dict[str, "JSON"] | None

DEEPEST = 200
_MEDIA = ("image", "audio")


def clean_json(value: object, *, limit: int = DEFAULT_LIMIT) -> tuple[JSON, tuple[Finding, ...]]:
    """The same structure with every string and every key cleaned; `limit` holds for each of them."""
    washing = _Washing(limit=limit)
    clean = washing.value(value, path="", depth=0)
    return clean, tuple(washing.findings)


class _Washing:
    __slots__ = ("findings", "limit")

    def __init__(self, *, limit: int) -> None:
        self.limit = limit
        self.findings: list[Finding] = []

    def value(self, value: object, *, path: str, depth: int) -> JSON:
        if depth > DEEPEST:
            raise _refused(f"the output is nested more than {DEEPEST} levels deep")
        if isinstance(value, str):
            return self.text(value, path=path)
        if value is None or isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
            return value
        if isinstance(value, list):
            return self.items(value, path=path, depth=depth)  # pyright: ignore[reportUnknownArgumentType]
        if isinstance(value, dict):
            return self.members(value, path=path, depth=depth)  # pyright: ignore[reportUnknownArgumentType]
        raise _refused(f"the output has a value of type `{type(value).__name__}` at `{path}`, which JSON does not have")

    def text(self, value: str, *, path: str) -> str:
        if len(value) <= self.limit and is_plain(value):
            return value
        cleaned = clean_output(value, limit=self.limit)
        if cleaned.findings:
            self.findings.extend(replace(finding, path=path) for finding in cleaned.findings)
        return cleaned.text

    def items(self, values: Sequence[object], *, path: str, depth: int) -> list[JSON]:
        return [self.value(item, path=f"{path}/{index}", depth=depth + 1) for index, item in enumerate(values)]

    def members(self, values: Mapping[object, object], *, path: str, depth: int) -> dict[str, JSON]:
        clean = self.media(values, path=path)
        for raw_key, item in values.items():
            if raw_key == "data" and clean.get("data") is item:
                continue
            if not isinstance(raw_key, str):
                raise _refused(f"the output has a key that is not text at `{path}`")
            key = self.text(raw_key, path=path)
            if key in clean:
                raise _refused(f"two keys at `{path}` are the same once cleaned: `{visible(key)}`")
            clean[key] = self.value(item, path=f"{path}/{_pointer(key)}", depth=depth + 1)
        return clean

    def media(self, values: Mapping[object, object], *, path: str) -> dict[str, JSON]:
        """The bytes of an image or a sound, whole, if they are what they are said to be; else nothing."""
        encoded, declared = values.get("data"), values.get("mimeType")
        if values.get("type") not in _MEDIA or not isinstance(encoded, str) or not isinstance(declared, str):
            return {}
        problem = media_problem(encoded, declared=declared)
        if problem:
            raise _refused(f"the {values['type']} at `{path}` is withheld: it {problem}")
        return {"data": encoded}


def _pointer(key: str) -> str:
    if key.isidentifier() and key.isascii():
        return key
    return visible(key).replace("~", "~0").replace("/", "~1")


def _refused(message: str) -> CallFailed:
    return CallFailed(message, code="output_invalid")
