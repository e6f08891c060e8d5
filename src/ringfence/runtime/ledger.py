"""The registry as the record sees it now, in every process: what another process changed counts here too.

Takes: the tools that this process registered, and the store.  Gives: the registry in force.
Never: trusts what it knew a call ago; the version is asked for before each one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ringfence.audit.events import AuditEvent
from ringfence.registry.pins import CodeChange, Pins
from ringfence.registry.registry import Registry, restated
from ringfence.runtime.invocation import Voided


@dataclass(frozen=True, kw_only=True)
class Acceptance:
    """An operator's word on one tool as it was shown; `was` is the contract pinned until now.

    A departure has no fingerprint: the tool is gone, and that is what is accepted.
    """

    source: str
    tool: str
    was: str | None
    fingerprint: str | None
    source_digest: str | None


class PinBook(Pins, Protocol):
    """Where pins are kept and moved; each move is one transaction with its events."""

    async def contracts(self, named: Iterable[tuple[str, str]]) -> dict[tuple[str, str], dict[str, Any]]:
        """Contracts by (tool, fingerprint), as they were registered."""
        ...

    async def accept(
        self,
        acceptances: Sequence[Acceptance],
        *,
        by: str,
        events: Sequence[AuditEvent],
        tell: Callable[[Voided], AuditEvent],
    ) -> None:
        """Move pins to what an operator was shown, and end the calls that waited on what was pinned before."""
        ...


class Board:
    """The registry of this process, restated whenever the ledger moves."""

    def __init__(self, registered: Registry, *, book: PinBook, code: CodeChange) -> None:
        self._registered = registered
        self._book = book
        self.code: CodeChange = code
        self._version: int | None = None
        self.registry = registered

    async def refresh(self) -> None:
        """Look whether any process has changed the ledger; if so, every view is built anew."""
        if await self._book.ledger_version() == self._version:
            return
        ledger = await self._book.ledger()
        self.registry = restated(self._registered, ledger=ledger, code=self.code)
        self._version = ledger.version
