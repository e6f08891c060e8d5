"""Text: what is found and what is left alone, on real data; TEXT-1, TEXT-2, SEC-3, how long it takes.

Takes: the corpora where they are, and sample texts.  Gives: rows.  Never: pools kinds.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench.harness.rows import Row
from bench.texts.found import found
from bench.texts.peer import peer_rows
from bench.texts.scrubbing import scrubbing
from bench.texts.speed import speed


def measure() -> Iterator[Row]:
    yield from found()
    yield from peer_rows()
    yield from speed()
    yield from scrubbing()
