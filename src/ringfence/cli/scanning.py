"""What `ringfence scan` looks at: a tool list string by string, or any other text as a whole.

Takes: bytes that nobody trusts.  Gives: each finding with its place, its kind and the words it is about.
Never: runs, imports or fetches anything; takes JSON that readers disagree about for text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from ringfence.contract.shapes import is_list, is_object
from ringfence.contract.values import NotPlain, parse_json
from ringfence.errors import Misuse, NameCollision
from ringfence.registry.names import NameIndex
from ringfence.sanitise import KINDS, Finding, Severity, clean_for_model, scan_description

LARGEST = 32 << 20
_DEEPEST = 100
_EXCERPT = 80

COLLISION = "name_collision"
COLLISION_REASON = "two tools whose names a reader or a model could take for each other"


@dataclass(frozen=True, kw_only=True)
class Spot:
    """One finding: where, in which text, and what it is about."""

    where: str
    kind: str
    severity: Severity
    span: tuple[int, int]
    detail: str
    excerpt: str
    line: int = 1
    column: int = 1

    def document(self) -> dict[str, Any]:
        return {**vars(self), "severity": self.severity.name.lower(), "span": list(self.span)}


@dataclass(frozen=True, kw_only=True)
class Scanned:
    """Everything found in one file."""

    source: str
    shape: Literal["tools", "text"]
    tools: int
    spots: tuple[Spot, ...]

    @property
    def worst(self) -> Severity | None:
        return max((spot.severity for spot in self.spots), default=None)


def scanned(content: bytes, *, source: str) -> Scanned:
    """The findings in a tool list, if it is one, and else in the text."""
    tools = _tools(content)
    if tools is None:
        text = content.decode(errors="surrogateescape")
        spots = tuple(_spot("", text, finding) for finding in clean_for_model(text, limit=LARGEST * 4).findings)
        return Scanned(source=source, shape="text", tools=0, spots=spots)
    found = [spot for number, tool in enumerate(tools) for spot in _about(tool, number)]
    return Scanned(source=source, shape="tools", tools=len(tools), spots=(*found, *_collisions(tools)))


def _tools(content: bytes) -> list[dict[str, Any]] | None:
    """The tools of an answer to `tools/list`, bare or wrapped, of a plain list, or one alone."""
    try:
        parsed = parse_json(content, size=LARGEST, depth=_DEEPEST)
    except NotPlain as unclear:
        _require_no_json(content, because=unclear.problem)
        return None
    if is_object(parsed) and is_object(parsed.get("result")):
        parsed = parsed["result"]
    if is_object(parsed) and is_list(parsed.get("tools")):
        parsed = parsed["tools"]
    listed = parsed if is_list(parsed) else [parsed]
    tools = [each for each in listed if is_object(each) and isinstance(each.get("name"), str)]
    return tools if tools and len(tools) == len(listed) else None


def _require_no_json(content: bytes, *, because: str) -> None:
    """Refuse JSON that two readers would read in two ways: what is not read as JSON could hide behind its escapes."""
    if _is_json(content):
        raise Misuse(f"the file is JSON, and not plain: {because}", remedy="write it anew, each key once")


def _is_json(content: bytes) -> bool:
    try:
        json.loads(content)
    except RecursionError:
        return True  # it went deep before it could fail
    except ValueError:
        return False
    return True


def _about(tool: dict[str, Any], number: int) -> Iterator[Spot]:
    for where, text in _texts(tool, where=f"/{number}"):
        for finding in scan_description(text):
            yield _spot(where, text, finding)


def _texts(node: Any, *, where: str) -> Iterator[tuple[str, str]]:
    """Every string that a model would read, keys too, each with its place."""
    if isinstance(node, str):
        yield where, node
    elif is_list(node):
        for at, item in enumerate(node):
            yield from _texts(item, where=f"{where}/{at}")
    elif is_object(node):
        for key, value in node.items():
            place = f"{where}/{key.replace('~', '~0').replace('/', '~1')}"
            yield place, key
            yield from _texts(value, where=place)


def _collisions(tools: list[dict[str, Any]]) -> Iterator[Spot]:
    names = NameIndex()
    for number, tool in enumerate(tools):
        try:
            names.add(tool["name"])
        except NameCollision as collision:
            yield Spot(
                where=f"/{number}/name",
                kind=COLLISION,
                severity=Severity.HIGH,
                span=(0, len(tool["name"])),
                detail=collision.message,
                excerpt=tool["name"][:_EXCERPT],
            )


def _spot(where: str, text: str, finding: Finding) -> Spot:
    start, end = finding.span
    before = text[:start]
    return Spot(
        where=where,
        kind=finding.kind,
        severity=KINDS[finding.kind].severity,
        span=finding.span,
        detail=finding.detail,
        # A report goes to logs and code hosts, where a credential must not.
        excerpt=f"[redacted: {finding.detail}]" if finding.kind == "credential" else text[start:end][:_EXCERPT],
        line=before.count("\n") + 1,
        column=start - (before.rfind("\n") + 1) + 1,
    )
