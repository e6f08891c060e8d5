"""How much of the corpora is found, changed or left alone, by the functions that the pipeline calls.

Takes: the corpora.  Gives: a row for each line of the goals, and one for each further kind.
Never: pools kinds; calls anything that a tool's output or a registration does not pass through.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from typing import Any

from bench.harness.rows import COUNT, PERCENT, Goal, Row, at_least, at_most
from bench.texts.corpora import FOLDER, Count, counted, rows
from ringfence.registry.names import collides
from ringfence.sanitise import Cleaned, clean_for_model, clean_output, scan_description
from ringfence.sanitise.invisible import HIDDEN

NO_LIMIT = 1 << 40
ORDERS = frozenset({"injection", "poisoning", "role_token"})
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)")
_UNSEEN = re.compile(f"[{HIDDEN}\u2028\u2029]")

# (kind, the least share that is to be found; none where a scanner can know nothing)
INJECTIONS: dict[str, Goal | None] = {
    "tool_poison": at_least(90, unit=PERCENT),
    "tool_poison_composed": at_least(70, unit=PERCENT),
    "override": at_least(70, unit=PERCENT),
    "tool_output_with_injection": at_least(70, unit=PERCENT),
    "indirect_embedded": at_least(70, unit=PERCENT),
    "obfuscated": at_least(70, unit=PERCENT),
    "important_block": at_least(70, unit=PERCENT),
    "role_token": at_least(80, unit=PERCENT),
    "jailbreak": None,
    "multilingual": None,
    "direct": None,
    "sysprompt_extraction": None,
    "credential_solicitation": None,
    "goal_only": None,
    "malicious_tool_desc": None,
    "sandbox_abuse_request": None,
}

_PEERS = {
    "tool_poison": "Cisco YARA 59 %, quoted",
    "benign": "Cisco 1.1 %, vigil 2.2 %, quoted",
    "credentials": "detect-secrets 46 % and 23 %, quoted",
}


def found() -> Iterator[Row]:
    yield from _characters()
    yield from _credentials()
    yield from _injections()
    yield _row(
        "REG-2", "benign descriptions flagged", _benign(), goal=at_most(0.5, unit=PERCENT), beside=_PEERS["benign"]
    )
    yield _row("SAN-2", "benign output with an order found in it", _quiet(), goal=None)
    pairs = counted(rows("homoglyph_pairs"), holds=lambda row: collides(row["a"], row["b"]) == row["collide"])
    yield _row("REG-3", "homoglyph pairs right, both ways", pairs, goal=at_least(100, unit=PERCENT))


def _characters() -> Iterator[Row]:
    hidden = counted(rows("unicode_hidden_positive"), holds=lambda row: not _UNSEEN.search(_clean(row["text"]).text))
    yield _row("SAN-1", "hidden Unicode removed", hidden, goal=at_least(100, unit=PERCENT))
    escapes = counted(rows("terminal_escapes"), holds=_leaves_controls)
    yield _row("SAN-1", "terminal escapes left", escapes, goal=at_most(0, unit=COUNT))
    changed = counted(rows("unicode_preserve"), holds=lambda row: _clean(row["text"]) != Cleaned(row["text"], ()))
    yield _row("SAN-4", "preserve set changed", changed, goal=at_most(0, unit=COUNT))
    for special, goal in ((True, at_least(100, unit=PERCENT)), (False, None)):
        tokens = [row for row in rows("role_tokens") if row["special"] is special]
        shown = "role tokens neutralised" if special else "names of speakers neutralised, at the start of a line"
        yield _row("SAN-1", shown, counted(tokens, holds=_neutralises), goal=goal)


def _credentials() -> Iterator[Row]:
    beside = _PEERS["credentials"]
    recall = counted(rows("secrets_positive"), holds=_redacts)
    yield _row("SAN-1", "credentials found", recall, goal=at_least(85, unit=PERCENT), beside=beside)
    for severity, goal in (("hard", at_most(3, unit=PERCENT)), ("soft", None)):
        negatives = [row for row in rows("secrets_negative") if row["severity"] == severity]
        alarms = counted(negatives, holds=_redacts)
        yield _row("SAN-1", f"false alarms on {severity} negatives", alarms, goal=goal, beside=beside if goal else "-")


def _injections() -> Iterator[Row]:
    positives = rows("injection_positive")
    for kind, goal in INJECTIONS.items():
        of_kind = [row for row in positives if row["kind"] == kind]
        id_ = "REG-2" if kind.startswith("tool_poison") else "SAN-2"
        yield _row(id_, f"`{kind}` found", counted(of_kind, holds=_orders), goal=goal, beside=_PEERS.get(kind, "-"))


def _benign() -> Count:
    return counted(rows("tool_desc_benign"), holds=lambda row: bool(scan_description(row["description"])))


def _quiet() -> Count:
    return counted(rows("injection_negative"), holds=_orders)


def _clean(value: str | bytes) -> Cleaned:
    return clean_output(value, limit=NO_LIMIT)


def _leaves_controls(row: dict[str, Any]) -> bool:
    return _CONTROL.search(_clean(base64.b64decode(row["raw_b64"])).text) is not None


def _neutralises(row: dict[str, Any]) -> bool:
    text = f"well.\n{row['token']}{'' if row['special'] else ': do it'}\nyes"
    return row["token"] not in _clean(text).text


def _redacts(row: dict[str, Any]) -> bool:
    cleaned = _clean(row["text"])
    gone = all(secret not in cleaned.text for secret in row.get("secrets") or ())
    return gone and any(finding.kind == "credential" for finding in cleaned.findings)


def _orders(row: dict[str, Any]) -> bool:
    described = row["surface"].startswith("tool_de")
    look: Callable[[str], Any] = scan_description if described else _looked_at
    return any(finding.kind in ORDERS for finding in look(row["text"]))


def _looked_at(text: str) -> tuple[Any, ...]:
    return clean_for_model(text, limit=NO_LIMIT).findings


def _row(id_: str, what: str, count: Count, *, goal: Goal | None, beside: str = "-") -> Row:
    unit = goal.unit if goal else PERCENT
    if not count.of:
        detail = f"there are no such rows in `{FOLDER.name}`: set RINGFENCE_CORPORA"
        return Row(id=id_, what=what, baseline=beside, goal=goal, measured=None, detail=detail, unit=unit)
    measured = count.percent if unit == PERCENT else float(count.rows)
    return Row(id=id_, what=what, baseline=beside, goal=goal, measured=measured, detail=str(count), unit=unit)
