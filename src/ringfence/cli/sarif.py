"""Findings as SARIF 2.1.0, which code hosts and editors show beside the file.

Takes: what was scanned.  Gives: the document.  Never: puts an unseen character of the file into it unescaped.
"""

from __future__ import annotations

from typing import Any

from ringfence import __version__
from ringfence.cli.scanning import COLLISION, COLLISION_REASON, Scanned, Spot
from ringfence.sanitise import KINDS, Severity, visible

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.INFO: "note", Severity.LOW: "note", Severity.MEDIUM: "warning", Severity.HIGH: "error"}


def sarif(scanned: Scanned) -> dict[str, Any]:
    """One run over one file."""
    driver = {"name": "ringfence", "version": __version__, "rules": _rules(scanned)}
    results = [_result(spot, source=scanned.source) for spot in scanned.spots]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rules(scanned: Scanned) -> list[dict[str, Any]]:
    reasons = {**{name: kind.reason for name, kind in KINDS.items()}, COLLISION: COLLISION_REASON}
    used = sorted({spot.kind for spot in scanned.spots})
    return [{"id": kind, "shortDescription": {"text": reasons[kind]}} for kind in used]


def _result(spot: Spot, *, source: str) -> dict[str, Any]:
    about = f": {visible(spot.detail)}" if spot.detail else ""
    where: dict[str, Any] = {"physicalLocation": {"artifactLocation": {"uri": source}}}
    if spot.where:
        where["logicalLocations"] = [{"fullyQualifiedName": visible(spot.where)}]
    else:
        length = spot.span[1] - spot.span[0]
        where["physicalLocation"]["region"] = {
            "startLine": spot.line,
            "startColumn": spot.column,
            "charOffset": spot.span[0],
            "charLength": length,
        }
    return {
        "ruleId": spot.kind,
        "level": _LEVELS[spot.severity],
        "message": {"text": f"{spot.kind}{about}: `{visible(spot.excerpt)}`"},
        "locations": [where],
    }
