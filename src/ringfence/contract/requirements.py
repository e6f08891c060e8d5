"""What must exist for a tool to be of use: named as data, checked by the host.

Takes: texts like `secret:STRIPE_KEY`, `binary:git`, `server:github`.  Gives: requirements.
Never: looks for any of them; the host does, when it builds a view.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ringfence.errors import DeclarationRefused

RequirementKind: TypeAlias = Literal["secret", "binary", "server"]
_KINDS: dict[str, RequirementKind] = {"secret": "secret", "binary": "binary", "server": "server"}


@dataclass(frozen=True, kw_only=True)
class Requirement:
    """One thing that must exist on the host."""

    kind: RequirementKind
    name: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


def parse_requirement(text: str) -> Requirement:
    kind, _, name = text.partition(":")
    if kind not in _KINDS or not name:
        raise DeclarationRefused(
            f"`available` entry `{text}` is not of the form `secret:NAME`, `binary:NAME` or `server:NAME`"
        )
    return Requirement(kind=_KINDS[kind], name=name)
