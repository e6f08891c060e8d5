"""What one call did on the network, counted by the edge that carried it.

Takes: every byte count, request, name and refusal as it happens.  Gives: one document for the trail.
Never: keeps content, or grows with what a hostile tool does.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ringfence.edge.terms import Bounds, Destination
from ringfence.policy.grant import Way

_MOST_ENTRIES = 100
_MOST_TEXT = 200


class Exhausted(Exception):
    """The call has used up what the edge gives to one call."""


@dataclass(kw_only=True)
class Totals:
    """The bytes of a whole call, held to its bounds."""

    bounds: Bounds
    bytes_out: int = 0
    bytes_in: int = 0


@dataclass(kw_only=True)
class Line:
    """One host, one port, one way out."""

    destination: Destination
    way: Way
    totals: Totals
    connections: int = 0
    requests: int = 0
    bytes_out: int = 0
    bytes_in: int = 0

    def sent(self, count: int) -> None:
        self.bytes_out += count
        self.totals.bytes_out += count
        if self.totals.bytes_out > self.totals.bounds.bytes_out:
            raise Exhausted(f"more than {self.totals.bounds.bytes_out} bytes out")

    def received(self, count: int) -> None:
        self.bytes_in += count
        self.totals.bytes_in += count
        if self.totals.bytes_in > self.totals.bounds.bytes_in:
            raise Exhausted(f"more than {self.totals.bounds.bytes_in} bytes in")

    def document(self) -> dict[str, Any]:
        return {
            "host": self.destination.host,
            "port": self.destination.port,
            "way": self.way,
            "connections": self.connections,
            "requests": self.requests,
            "bytes_out": self.bytes_out,
            "bytes_in": self.bytes_in,
        }


@dataclass(kw_only=True)
class Ledger:
    """All of one call's traffic."""

    bounds: Bounds
    connections: int = 0
    _held: int = 0
    _lines: dict[tuple[str, int, Way], Line] = field(default_factory=dict[tuple[str, int, Way], Line])
    _names: dict[str, str] = field(default_factory=dict[str, str])
    _refusals: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    _unlisted: int = 0
    _totals: Totals | None = None

    def line(self, destination: Destination, *, way: Way) -> Line:
        if self._totals is None:
            self._totals = Totals(bounds=self.bounds)
        key = (destination.host, destination.port, way)
        found = self._lines.get(key)
        if found is None:
            found = self._lines[key] = Line(destination=destination, way=way, totals=self._totals)
        return found

    @contextmanager
    def holding(self) -> Generator[Callable[[int], None]]:
        """Count what one connection has the edge hold, for as long as it does."""
        mine = 0

        def hold(count: int) -> None:
            nonlocal mine
            mine += count
            self._held += count
            if self._held > self.bounds.bytes_held:
                raise Exhausted(f"more than {self.bounds.bytes_held} bytes of bodies at once")

        try:
            yield hold
        finally:
            self._held -= mine

    def asked(self, name: str, *, answer: str) -> None:
        if name in self._names or len(self._names) < _MOST_ENTRIES:
            self._names[name[:_MOST_TEXT]] = answer
        else:
            self._unlisted += 1

    def refused(self, code: str, reason: str) -> None:
        key = (code, reason[:_MOST_TEXT])
        if key in self._refusals or len(self._refusals) < _MOST_ENTRIES:
            self._refusals[key] = self._refusals.get(key, 0) + 1
        else:
            self._unlisted += 1

    def document(self) -> dict[str, Any]:
        return {
            "hosts": [line.document() for line in self._lines.values()],
            "names": [{"name": name, "answer": answer} for name, answer in self._names.items()],
            "refusals": [
                {"code": code, "reason": reason, "times": times} for (code, reason), times in self._refusals.items()
            ],
            "more": self._unlisted,
            "bytes_out": self._totals.bytes_out if self._totals else 0,
            "bytes_in": self._totals.bytes_in if self._totals else 0,
        }
