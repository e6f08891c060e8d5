"""Which bodies may go: those of calls, once they are old enough, and only by an operator's recorded act.

Takes: how long bodies are kept, or a trail with bodies missing.  Gives: the moment before which they may go, and
whether every missing one was let go.  Never: lets go of what says who registered, accepted or removed something.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from ringfence.audit.chain import Link, sha256
from ringfence.audit.events import AuditEvent, event
from ringfence.contract.shapes import is_object
from ringfence.errors import Misuse

KIND = "bodies_removed"


@dataclass(frozen=True, kw_only=True)
class Removal:
    """An operator's act: the bodies of calls before this moment go."""

    before: datetime
    by: str
    at: datetime

    def event(self, *, removed: int) -> AuditEvent:
        before = self.before.isoformat(timespec="microseconds")
        return event(KIND, at=self.at, body={"before": before, "by": self.by, "removed": removed})


class Bodies(Protocol):
    """Where bodies are kept apart from the chain."""

    async def removable(self, *, before: datetime) -> int:
        """How many bodies of calls are older than this."""
        ...

    async def remove_bodies(self, removal: Removal) -> int:
        """Let them go and record it, in one transaction; gives how many went."""
        ...


def cutoff(*, now: datetime, retention: timedelta | None) -> datetime:
    """The moment before which bodies may go; without a configured time they are kept for good."""
    if retention is None:
        raise Misuse(
            "no time is configured after which bodies may go", remedy="set `audit.retention` in the config file"
        )
    return now - retention


class Retained:
    """Follows a trail and remembers the newest missing body, and the newest act that lets bodies go."""

    def __init__(self) -> None:
        self._newest_missing: Link | None = None
        self._never_removable: Link | None = None
        self._before = ""

    def meet(self, link: Link) -> None:
        if link.body is None:
            self._miss(link)
        elif link.kind == KIND and sha256(link.body) == link.body_digest:
            self._before = max(self._before, _said(link.body, at=link.at))

    def unexplained(self) -> Link | None:
        """A missing body that no act covers, if there is one."""
        newest = self._newest_missing
        if self._never_removable is not None:
            return self._never_removable
        return newest if newest is not None and newest.at >= self._before else None

    def _miss(self, link: Link) -> None:
        if link.invocation_id is None:
            self._never_removable = link
        elif self._newest_missing is None or link.at > self._newest_missing.at:
            self._newest_missing = link


def _said(body: str, *, at: str) -> str:
    """The moment that an act names, which is never after the act itself."""
    try:
        said: Any = json.loads(body)
    except ValueError:
        return ""
    before = said.get("before") if is_object(said) else None
    return min(before, at) if isinstance(before, str) else ""
