"""What a tool is given besides its arguments: only what it declared and was granted.

Takes: the clients that the jail built.  Gives: `ctx.http`, `ctx.files`, … for those that are there.
Never: builds a client; an undeclared one is an error that names the missing need.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ringfence.contract.secret import SecretRef
from ringfence.errors import CallFailed

if TYPE_CHECKING:
    from logging import Logger

_NEEDS = {"http": "Network", "files": "Files", "secrets": "Secrets", "storage": "Storage", "processes": "Processes"}


def _no_progress(_done: float, _total: float | None, _note: str) -> None:
    """Where nobody listens, progress is dropped."""


@functools.cache
def _log_of_tools() -> Logger:
    # In the function: 4 ms of start-up that only a running tool needs.
    from logging import getLogger  # noqa: PLC0415

    return getLogger("ringfence.tool")


class DeclaredSecrets(Mapping[str, SecretRef]):
    """The secrets a tool declared; asking for another says so without naming what exists."""

    def __init__(self, references: Mapping[str, SecretRef]) -> None:
        self._references = dict(references)

    def __getitem__(self, name: str) -> SecretRef:
        try:
            return self._references[name]
        except KeyError:
            raise CallFailed(
                "the tool asked for a secret that it did not declare", code="secret_not_declared"
            ) from None

    def __iter__(self) -> Any:
        return iter(self._references)

    def __len__(self) -> int:
        return len(self._references)


@dataclass(frozen=True, kw_only=True)
class Context:
    """One call's surroundings, as the tool sees them."""

    agent: str
    session: str
    idempotency_key: str
    clients: Mapping[str, Any] = field(default_factory=dict[str, Any])
    log: Logger = field(default_factory=_log_of_tools)
    report: Callable[[float, float | None, str], None] = _no_progress

    @property
    def http(self) -> Any:
        return self._client("http")

    @property
    def files(self) -> Any:
        return self._client("files")

    @property
    def secrets(self) -> Mapping[str, SecretRef]:
        references: Mapping[str, SecretRef] = self._client("secrets")
        return references

    @property
    def storage(self) -> Any:
        return self._client("storage")

    @property
    def processes(self) -> Any:
        return self._client("processes")

    def progress(self, done: float, total: float | None = None, note: str = "") -> None:
        """Tell whoever waits how far the call has come."""
        self.report(done, total, note)

    def _client(self, name: str) -> Any:
        try:
            return self.clients[name]
        except KeyError:
            message = f"`ctx.{name}` is not there: the tool declares no `{_NEEDS[name]}` need, or none was granted"
            raise CallFailed(
                message, code="not_available", remedy=f"add `{_NEEDS[name]}(…)` to the tool's needs"
            ) from None
