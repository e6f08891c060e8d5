"""What went wrong in the database, in our own words.

Takes: an error of `sqlite3`.  Gives: the error it means.  Never: lets an unknown one pass as harmless.
"""

from __future__ import annotations

import sqlite3

from ringfence.errors import (
    CallRefused,
    DeclarationRefused,
    Misuse,
    OperatorRequired,
    RingfenceError,
    TrailUnavailable,
    VoteRefused,
)

_RULES: dict[str, type[RingfenceError]] = {
    "in_flight": CallRefused,
    "in_doubt": CallRefused,
    "idempotency_conflict": CallRefused,
    "approval_void": CallRefused,
    "approval_expired": CallRefused,
    "frozen": CallRefused,
    "rate_limited": CallRefused,
    "spend_cap_reached": CallRefused,
    "tool_not_found": CallRefused,
    "vote_refused": VoteRefused,
    "definition_changed": DeclarationRefused,
    "operator_required": OperatorRequired,
    "misuse": Misuse,
}
_PRIMARY = 0xFF


class Busy(Exception):
    """Another writer holds the database at this moment; the same work can be tried where waiting is allowed."""


def is_busy(error: sqlite3.Error) -> bool:
    return _code(error) & _PRIMARY in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def translated(error: sqlite3.Error) -> RingfenceError:
    """The error that a caller is given."""
    if _code(error) == sqlite3.SQLITE_CONSTRAINT_TRIGGER:
        known = ruled(str(error))
        if known is not None:
            return known
    if _code(error) & _PRIMARY == sqlite3.SQLITE_CONSTRAINT:
        return Misuse(f"the store does not admit this row: {error}")
    return TrailUnavailable(f"the store cannot be used: {error}")


def ruled(said: str) -> RingfenceError | None:
    """The refusal that a rule of the schema spells as `code: reason`."""
    code, _, reason = said.partition(": ")
    return _RULES[code](reason, code=code) if code in _RULES else None


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0)
