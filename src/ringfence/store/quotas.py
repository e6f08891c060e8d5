"""Draws tokens in the transaction that starts a call, so that every process counts together.

Takes: draws.  Gives: nothing, or the refusal with the time to wait.
Never: gives a token back by hand; a start that is undone undoes its draws.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime

from ringfence.errors import CallRefused
from ringfence.policy.quotas import REFUSALS, REST_SECONDS, Draw
from ringfence.store.engine import Transaction


def require_tokens(transaction: Transaction, draws: Sequence[Draw], *, session: str, now: datetime) -> None:
    """One token from every bucket, or the first that has none."""
    at = now.timestamp()
    resting = transaction.run("resting", session, at).fetchone()
    if resting is not None:
        raise _limited("this session was refused too often and rests", seconds=resting[0] - at)
    for draw in draws:
        bucket, rate = (draw.agent, draw.binding, draw.pattern), draw.rate
        if transaction.run("draw", *bucket, float(rate.count), rate.per_second, at).rowcount != 1:
            tokens, since = transaction.run("bucket", *bucket).fetchone()
            lacking = 1 - min(rate.count, tokens + max(0.0, at - since) * rate.per_second)
            raise _limited(f"`{draw.pattern}` is limited for this agent", seconds=lacking / rate.per_second)


def draw_refusal(transaction: Transaction, *, session: str, now: datetime) -> None:
    """Count a refusal; over the limit, the session rests."""
    refill = REFUSALS.per_second
    transaction.run("draw_refusal", session, float(REFUSALS.count), refill, now.timestamp(), float(REST_SECONDS))


def _limited(why: str, *, seconds: float) -> CallRefused:
    wait = max(1, math.ceil(seconds))
    return CallRefused(f"{why}; wait {wait} seconds", code="rate_limited")
