"""Holds the pins against the trail: a pin that says other than its last event was edited behind everybody's back.

Takes: the links of a trail as they are walked, then the pins.  Gives: problems.  Never: asks the database anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from ringfence.audit.chain import Link
from ringfence.contract.shapes import is_object

_MOVES_A_PIN = frozenset({"tool_registered", "code_changed", "tool_retired"})


class AcceptedPins:
    """The newest word of the trail on each pin, fact by fact; a trail that tells of no pin at all is not asked."""

    def __init__(self) -> None:
        self._newest: dict[tuple[str, str], dict[str, tuple[int, Any]]] = {}

    def meet(self, place: int, link: Link) -> None:
        if link.kind not in _MOVES_A_PIN or link.body is None or link.tool is None:
            return
        body = _read(link.body)
        if not body.get("held"):
            known = self._newest.setdefault((str(body.get("source")), link.tool), {})
            for name, value in _facts(link.kind, body).items():
                if known.get(name, (0, None))[0] < place:
                    known[name] = (place, value)

    def problems(self, pins: Iterable[tuple[Any, ...]]) -> Iterator[str]:
        for source, tool, fingerprint, source_digest, trust, retired in pins if self._newest else ():
            said = {name: value for name, (_, value) in self._newest.get((source, tool), {}).items()}
            pinned = {"fingerprint": fingerprint, "trust": trust, "retired": bool(retired)}
            if {**pinned, "source_digest": source_digest} != said:
                yield f"the pin of `{tool}` of {source} is not what the trail says was accepted"


def _facts(kind: str, body: dict[str, Any]) -> dict[str, Any]:
    """What an event says of a pin; one about changed code says nothing of its trust."""
    facts: dict[str, Any] = {name: body[name] for name in ("fingerprint", "source_digest", "trust") if name in body}
    return facts if kind == "code_changed" else {**facts, "retired": kind == "tool_retired"}


def _read(body: str) -> dict[str, Any]:
    try:
        said = json.loads(body)
    except ValueError:
        return {}
    return said if is_object(said) else {}
