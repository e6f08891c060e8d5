"""What went wrong in PostgreSQL, in our own words.

Takes: an error of `psycopg`.  Gives: the error it means.  Never: lets an unknown one pass as harmless.
"""

from __future__ import annotations

import psycopg
from psycopg import errors

from ringfence.errors import Misuse, OperatorRequired, RingfenceError, TrailUnavailable, VoteRefused
from ringfence.store.engine import Role
from ringfence.store.faults import ruled

_WAITED = (errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure, errors.QueryCanceled)


def translated(error: psycopg.Error) -> RingfenceError:
    """The error that a caller is given."""
    said = error.diag.message_primary or str(error)
    if isinstance(error, errors.RaiseException):
        known = ruled(said)
        if known is not None:
            return known
    if isinstance(error, _WAITED):
        return TrailUnavailable("the store is held by another process for too long")
    if isinstance(error, psycopg.IntegrityError | psycopg.DataError):
        return Misuse(f"the store does not admit this row: {said}")
    if isinstance(error, errors.InsufficientPrivilege):
        return Misuse(f"this role of the database may not do that: {said}")
    return TrailUnavailable(f"the store cannot be used: {said}")


def without_role(role: Role) -> RingfenceError:
    """What a login is told that was not given the role which a move is made as."""
    remedy = f"grant `ringfence_{role}` to the login of `store.url`; `ringfence db role-sql` shows the roles"
    if role == "approver":
        return VoteRefused("this login of the database cannot vote", remedy=remedy)
    return OperatorRequired("this login of the database is no operator's", remedy=remedy)


def lost(error: BaseException) -> bool:
    """Whether it is the connection that broke, and not the statement."""
    return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) and not isinstance(error, _WAITED)
