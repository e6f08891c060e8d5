"""Rows that tools keep, in either database: each of one agent, counted and bounded in the transaction that writes it.

Takes: a namespace, a key, a value in JSON's one spelling.  Gives: rows, keys, and whether a swap was the one that won.
Never: shows a row whose time is over, or lets two writers both believe that they were within the quota.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from ringfence.errors import CallFailed
from ringfence.execution.storage import Label, Namespace, Row, Writing
from ringfence.store.engine import Engine, Lane, Transaction
from ringfence.store.rows import stamp

_ABSENT = "null"


class KeptStorage:
    """`KeyValue` over either database."""

    def __init__(self, database: Engine, *, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now

    async def get(self, space: Namespace, key: str) -> Row | None:
        at = stamp(self._now())
        row = await self._database.read(lambda each: each.run("storage_row", *_named(space), key, at).fetchone())
        return None if row is None else _row(row)

    async def keys(self, space: Namespace, *, prefix: str, after: str, most: int) -> tuple[str, ...]:
        asked = (*_named(space), after, prefix, stamp(self._now()), most)
        rows = await self._database.read(lambda each: each.run("storage_keys", *asked).fetchall())
        return tuple(key for (key,) in rows)

    async def put(self, space: Namespace, key: str, value: str, *, writing: Writing) -> None:
        def work(transaction: Transaction) -> None:
            transaction.run("storage_hold", space.agent)
            self._write(transaction, space, key, value, writing=writing)

        await self._database.write(work, durability=writing.durability)

    async def swap(self, space: Namespace, key: str, *, expected: str, value: str, writing: Writing) -> bool:
        def work(transaction: Transaction) -> bool:
            transaction.run("storage_hold", space.agent)
            found = transaction.run("storage_row", *_named(space), key, stamp(self._now())).fetchone()
            if (found[0] if found else _ABSENT) != expected:
                return False
            self._write(transaction, space, key, value, writing=writing)
            return True

        return await self._database.write(work, durability=writing.durability)

    async def delete(self, space: Namespace, key: str) -> bool:
        def work(transaction: Transaction) -> bool:
            transaction.run("storage_hold", space.agent)
            removed = transaction.run("storage_remove", *_named(space), key, stamp(self._now()))
            return bool(removed.rowcount == 1)

        return await self._database.write(work, durability="full")

    async def drop_expired(self) -> int:
        at = stamp(self._now())
        due = await self._database.read(lambda each: each.run("storage_expired", at).fetchall())
        if not due:
            return 0

        def one_by_one(lane: Lane) -> int:
            return sum(lane.write(lambda each, agent=agent: _drop(each, agent, at=at)) for (agent,) in due)  # type: ignore[misc]

        return await self._database.upkeep(one_by_one)

    def _write(self, transaction: Transaction, space: Namespace, key: str, value: str, *, writing: Writing) -> None:
        now = self._now()
        label, until = writing.label, None if writing.lasts is None else stamp(now + writing.lasts)
        row = (*_named(space), key, value, label.tool, label.invocation_id, label.trust, stamp(now), until)
        if transaction.run("storage_change", *row).rowcount != 1:
            transaction.run("storage_add", *row)
        if _excess(transaction, space, writing=writing) is not None:
            _drop(transaction, space.agent, at=stamp(now))
            excess = _excess(transaction, space, writing=writing)
            if excess is not None:
                raise CallFailed(excess, code="storage_quota")


def _drop(transaction: Transaction, agent: str, *, at: str) -> int:
    transaction.run("storage_hold", agent)
    return transaction.run("storage_drop_expired", agent, at).rowcount


def _excess(transaction: Transaction, space: Namespace, *, writing: Writing) -> str | None:
    """What there is too much of, with the row that was just written."""
    quota = writing.quota
    count, size = transaction.run("storage_use", *_named(space)).fetchone()
    _, in_all = transaction.run("storage_use", space.agent, "all", "").fetchone()
    if count > quota.rows:
        return f"storage of scope `{space.scope}` holds {quota.rows} rows, and that is the most"
    if size > quota.bytes:
        return f"storage of scope `{space.scope}` would hold {size} bytes, more than {quota.bytes}"
    if in_all > quota.agent_bytes:
        return f"all storage of the agent would hold {in_all} bytes, more than {quota.agent_bytes}"
    return None


def _named(space: Namespace) -> tuple[str, str, str]:
    return space.agent, space.scope, space.owner


def _row(row: tuple[Any, ...]) -> Row:
    value, tool, invocation_id, trust, written_at, expires_at = row
    return Row(
        value=value,
        label=Label(tool=tool, invocation_id=invocation_id, trust=trust),
        written_at=datetime.fromisoformat(written_at),
        expires_at=None if expires_at is None else datetime.fromisoformat(expires_at),
    )
