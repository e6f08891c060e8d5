"""What is on offer against what was accepted, tool by tool and source by source.

Takes: the ledger and the contracts it names.  Gives: differences that a person can read and accept.
Never: takes a tool under a new name for a new tool without saying which one it looks like.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ringfence.contract.fingerprint import canonical, digest
from ringfence.contract.shapes import is_list, is_object
from ringfence.registry.pins import CodeChange, Key, Ledger, Pin, Sighting, Trust

Kind: TypeAlias = Literal["new", "added", "removed", "renamed", "changed", "code_changed", "failed_gate"]
Contracts: TypeAlias = Mapping[tuple[str, str], dict[str, Any]]

# A renamed tool keeps one of these; which others stayed too decides between several candidates.
_RECOGNISED_BY = ("description", "input_schema")


@dataclass(frozen=True, kw_only=True)
class FieldChange:
    """One place in a contract that says something else; nothing where it is absent."""

    path: str
    before: str | None
    after: str | None


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One tool of one source that is not as it was accepted, or that nobody accepted yet."""

    kind: Kind
    source: str
    tool: str
    was: str | None = None
    pin: Pin | None = None
    seen: Sighting | None = None
    changes: tuple[FieldChange, ...] = ()

    @property
    def faults(self) -> tuple[str, ...]:
        return self.seen.faults if self.seen else ()

    @property
    def digest(self) -> str:
        """The name of exactly this difference; an acceptance is bound to it."""
        return digest(canonical(self.document()))

    def document(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "source": self.source,
            "tool": self.tool,
            "was": self.was,
            "pinned": _named(self.pin),
            "offered": _named(self.seen),
            "faults": list(self.faults),
            "changes": [vars(change) for change in self.changes],
        }


def _named(record: Pin | Sighting | None) -> dict[str, str] | None:
    if record is None:
        return None
    return {"fingerprint": record.fingerprint, "source_digest": record.source_digest}


def differences(ledger: Ledger, *, contracts: Contracts, code: CodeChange) -> tuple[Difference, ...]:
    """Everything that waits for an operator, by source and tool; a rename is one difference, not two."""
    found = [each for key in _keys(ledger) for each in _difference(key, ledger=ledger, contracts=contracts, code=code)]
    return tuple(sorted(_with_renames(found, contracts=contracts), key=lambda each: (each.source, each.tool)))


def _keys(ledger: Ledger) -> set[Key]:
    return {*ledger.pins, *ledger.sightings}


def _difference(key: Key, *, ledger: Ledger, contracts: Contracts, code: CodeChange) -> Iterator[Difference]:
    source, tool = key
    pin, seen = ledger.pin(key), ledger.sightings.get(key)
    kind = _kind(pin, seen, code=code)
    if kind is not None:
        before = _contract(pin, contracts) if kind == "changed" else None
        changes = field_changes(before, _contract(seen, contracts)) if before is not None else ()
        yield Difference(kind=kind, source=source, tool=tool, pin=pin, seen=seen, changes=changes)


def _kind(pin: Pin | None, seen: Sighting | None, *, code: CodeChange) -> Kind | None:
    offered = seen is not None and seen.presence == "offered"
    if pin is None:
        return None if not offered else "failed_gate" if seen and seen.faults else "added"
    if seen is None:
        return "new" if pin.trust is Trust.IMPORTED else None
    if not offered:
        return "removed"
    if seen.faults:
        return "failed_gate"
    if seen.fingerprint != pin.fingerprint:
        return "changed"
    if code == "strict" and seen.source_digest != pin.source_digest:
        return "code_changed"
    return "new" if pin.trust is Trust.IMPORTED else None


def _with_renames(found: list[Difference], *, contracts: Contracts) -> Iterator[Difference]:
    """A tool that went and one that came in the same source are one, where the contract is recognisably the same."""
    gone = [each for each in found if each.kind == "removed"]
    for each in found:
        if each.kind == "added":
            twin = _twin(each, gone, contracts=contracts)
            if twin is not None:
                gone.remove(twin)
            yield _renamed(each, twin, contracts=contracts) if twin else each
    yield from (each for each in found if each.kind not in ("added", "removed"))
    yield from gone


def _twin(added: Difference, gone: list[Difference], *, contracts: Contracts) -> Difference | None:
    now = _contract(added.seen, contracts)
    alike = [
        (_likeness(_contract(each.pin, contracts), now), each)
        for each in gone
        if each.source == added.source and _recognised(_contract(each.pin, contracts), now)
    ]
    return max(alike, key=lambda pair: pair[0])[1] if alike else None


def _recognised(before: dict[str, Any], after: dict[str, Any]) -> bool:
    return any(before.get(name) == after.get(name) for name in _RECOGNISED_BY)


def _likeness(before: dict[str, Any], after: dict[str, Any]) -> int:
    return sum(before.get(name) == after.get(name) for name in before)


def _renamed(added: Difference, gone: Difference, *, contracts: Contracts) -> Difference:
    changes = field_changes(_contract(gone.pin, contracts), _contract(added.seen, contracts))
    return Difference(
        kind="renamed",
        source=added.source,
        tool=added.tool,
        was=gone.tool,
        pin=gone.pin,
        seen=added.seen,
        changes=changes,
    )


def _contract(record: Pin | Sighting | None, contracts: Contracts) -> dict[str, Any]:
    return contracts.get((record.tool, record.fingerprint), {}) if record else {}


def field_changes(before: dict[str, Any], after: dict[str, Any]) -> tuple[FieldChange, ...]:
    """Every place where two contracts differ, as text that a person can compare."""
    was, now = dict(_leaves(before)), dict(_leaves(after))
    return tuple(
        FieldChange(path=path, before=was.get(path), after=now.get(path))
        for path in sorted({*was, *now})
        if was.get(path) != now.get(path)
    )


def _leaves(node: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if is_object(node) and node:
        for key, value in node.items():
            yield from _leaves(value, f"{path}/{key}")
    elif is_list(node) and node:
        for place, value in enumerate(node):
            yield from _leaves(value, f"{path}/{place}")
    else:
        yield path, node if isinstance(node, str) else canonical(node).decode()
