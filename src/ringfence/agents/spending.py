"""How much may be spent in how long: by what calls say they move, or by what they themselves cost.

Takes: an operator's words.  Gives: a `SpendCap`.  Never: is unlimited, and never counts two units as one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, TypeAlias

PERIODS = {"hour": 3_600, "day": 86_400, "week": 604_800, "month": 2_592_000}

Basis: TypeAlias = Literal["amount", "cost"]
# The way to an argument, key by key.
Way: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class SpendCap:
    """The most that calls of some tools may spend in any such time.

    `amount` leads to the argument that says how much; without it, what calls cost by the operator's prices counts.
    `unit` are arguments that must say this and nothing else, like a currency.
    """

    tools: str
    most: Decimal
    per: str
    amount: Way | None = None
    unit: tuple[tuple[Way, str], ...] = ()

    @property
    def basis(self) -> Basis:
        return "cost" if self.amount is None else "amount"

    @property
    def seconds(self) -> int:
        return PERIODS[self.per]

    @property
    def name(self) -> str:
        """What was spent is kept under this; another limit for the same is still the same."""
        return json.dumps({key: value for key, value in self.document().items() if key != "most"}, sort_keys=True)

    def document(self) -> dict[str, Any]:
        said: dict[str, Any] = {"tools": self.tools, "most": spelled(self.most), "per": self.per}
        if self.amount is not None:
            said["amount"] = argument(self.amount)
        return {**said, "unit": {argument(way): word for way, word in self.unit}} if self.unit else said


def read_cap(said: Mapping[str, Any]) -> SpendCap:
    """A cap from valid words of a config."""
    return SpendCap(
        tools=said["tools"],
        most=Decimal(str(said["most"])),
        per=said["per"],
        amount=way_to(said["amount"]) if "amount" in said else None,
        unit=tuple((way_to(at), word) for at, word in sorted(said["unit"].items())),
    )


def way_to(text: str) -> Way:
    """`args.order.total` as the way to it."""
    return tuple(text.split(".")[1:])


def argument(way: Way) -> str:
    return ".".join(("args", *way))


def spelled(amount: Decimal) -> str:
    """An amount as people write it."""
    return format(amount.normalize(), "f")
