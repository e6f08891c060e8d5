"""Keeps the trail: appends events, signs where the chains stand, and proves that nothing was touched.

Takes: events.  Gives: links, checkpoints and reports.  Never: signs over an anchor that is ahead of the store.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ringfence.audit.bundle import bundle_lines
from ringfence.audit.chain import Head, Link
from ringfence.audit.checkpoint import Checkpoint, read_statement, sign
from ringfence.audit.events import AuditEvent
from ringfence.audit.verify import Report, verify_trail
from ringfence.errors import TrailUnavailable
from ringfence.store.accepted import AcceptedPins
from ringfence.store.anchor import Anchor
from ringfence.store.engine import Engine, Lane, Reading, Transaction
from ringfence.store.rows import checkpoint_from, checkpoint_row, link_from, stamp

_PAGE = 500


class KeptTrail:
    """The `Trail` over either database."""

    def __init__(
        self, database: Engine, *, signing_key: Ed25519PrivateKey, anchor: Anchor | None, now: Callable[[], datetime]
    ) -> None:
        self._database = database
        self._key = signing_key
        self._anchor = anchor
        self._now = now

    async def append(self, events: Sequence[AuditEvent]) -> None:
        await self._database.write(lambda transaction: transaction.record(events), durability="normal")

    async def position(self, *, back: int = 0) -> int:
        name, parameters = ("place_before", (back,)) if back else ("last_event", ())
        return await self._database.read(lambda transaction: int(transaction.run(name, *parameters).fetchone()[0]))

    async def news(self, *, at_most: float) -> None:
        await self._database.news(at_most=at_most)

    async def links(self, *, after: int = 0, limit: int | None = None) -> AsyncIterator[tuple[int, Link]]:
        while limit is None or limit > 0:
            size = _PAGE if limit is None else min(_PAGE, limit)
            page = await self._database.upkeep(_page(after, size))
            for place, each in page:
                yield place, each
            if len(page) < size:
                return
            after = page[-1][0]
            limit = None if limit is None else limit - size

    async def checkpoint(self) -> None:
        await self._database.upkeep(self._checkpoint)

    async def verify(self, *, key: str | None = None) -> Report:
        return await asyncio.to_thread(self._verify, key)

    async def bundle(self, write: Callable[[bytes], object]) -> int:
        """Sign where the trail stands, then hand over all of it, line by line; gives the number of lines."""
        await self.checkpoint()
        return await asyncio.to_thread(self._bundle, write)

    def _bundle(self, write: Callable[[bytes], object]) -> int:
        at = stamp(self._now())
        with self._database.reading() as reading:
            checkpoints = _checkpoints(reading, 0)
            rows = reading.run("links_through", _through(checkpoints[-1] if checkpoints else None))
            lines = bundle_lines(map(link_from, rows), checkpoints=checkpoints, at=at, key=self._key)
            count = 0
            for line in lines:
                write(line)
                count += 1
            return count

    def _checkpoint(self, lane: Lane) -> None:
        if self._anchor is None:
            lane.write(self._sign)
            return
        with self._anchor.held() as anchor:

            def work(transaction: Transaction) -> None:
                anchor.require_behind(lambda first: _checkpoints(transaction, first))
                self._sign(transaction)

            lane.write(work)
            anchor.complete(lambda first: lane.read(lambda transaction: _checkpoints(transaction, first)))

    def _sign(self, transaction: Transaction) -> None:
        """Sign where every chain stands that grew since the last checkpoint."""
        transaction.run("hold_checkpoints")
        last = last_checkpoint(transaction)
        (through,) = transaction.run("last_event").fetchone()
        covered = _through(last)
        if through > covered:
            heads = [
                Head(writer=writer, seq=seq, hash=hash_)
                for writer, seq, hash_ in transaction.run("heads_after", covered, through)
            ]
            signed = sign(heads, through=through, after=last, at=stamp(self._now()), key=self._key)
            transaction.run("insert_checkpoint", *checkpoint_row(signed))

    def _verify(self, key: str | None) -> Report:
        # The anchor is read first: a checkpoint is in the store before it is in the anchor, never after.
        anchored = self._anchor.lines() if self._anchor else None
        with self._database.reading() as reading:
            report = self._report(reading, anchored=anchored)
        if key is not None and key != report.key:
            return replace(report, problems=(f"the key is `{report.key}`, not `{key}`", *report.problems))
        return report

    def _report(self, reading: Reading, *, anchored: list[str] | None) -> Report:
        checkpoints = _checkpoints(reading, 0)
        problems: list[str] = []
        accepted = AcceptedPins()
        report = verify_trail(
            _ordered(iter(reading.run("links_by_writer")), problems=problems, accepted=accepted),
            checkpoints=checkpoints,
            anchor=anchored,
            key=self._key.public_key(),
        )
        (strays,) = reading.run("stray_bodies").fetchone()
        if strays:
            problems.append(f"{strays} bodies or places have no event: events were removed or moved")
        problems.extend(accepted.problems(reading.run("pins")))
        if self._anchor is not None and anchored is None and checkpoints:
            problems.append(f"the anchor `{self._anchor.path}` is missing")
        return replace(report, problems=(*problems, *report.problems))


def _ordered(rows: Iterator[tuple[Any, ...]], *, problems: list[str], accepted: AcceptedPins) -> Iterator[Link]:
    """Links by writer, noting the first that does not stand after its predecessor, and what was said of pins."""
    writer, place = None, 0
    for row in rows:
        if row[1] == writer and row[0] <= place and not problems:
            problems.append(f"event {row[2]} of writer {writer} stands before the one it follows")
        place, writer = row[0], row[1]
        link = link_from(row)
        accepted.meet(place, link)
        yield link


def _page(after: int, size: int) -> Callable[[Lane], list[tuple[int, Link]]]:
    def work(transaction: Transaction) -> list[tuple[int, Link]]:
        return [(row[0], link_from(row)) for row in transaction.run("links_after", after, size)]

    return lambda lane: lane.read(work)


def _checkpoints(reading: Reading, first: int) -> list[Checkpoint]:
    return list(map(checkpoint_from, reading.run("checkpoints_from", first)))


def last_checkpoint(reading: Reading) -> Checkpoint | None:
    row = reading.run("last_checkpoint").fetchone()
    return None if row is None else checkpoint_from(row)


def _through(last: Checkpoint | None) -> int:
    if last is None:
        return 0
    statement = read_statement(last)
    if statement is None:
        raise TrailUnavailable(f"checkpoint {last.number} cannot be read", code="audit_broken")
    return statement.through


def has_checkpoints(transaction: Transaction) -> bool:
    return last_checkpoint(transaction) is not None
