"""What a caller asks for, and who is asking.

Takes: a session's identity and one request.  Gives: frozen values that travel through the pipeline.
Never: holds anything a model could use to become somebody else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Identity:
    """Who acts in one conversation: settled by whoever opened the session, never by the model."""

    session: str
    agent: str
    binding: str | None
    user: str | None
    typed_by: str | None


@dataclass(frozen=True, kw_only=True)
class CallRequest:
    """One request of a model, not yet believed."""

    identity: Identity
    tool: str
    arguments: Mapping[str, Any]
    turn: str
    idempotency_key: str | None
