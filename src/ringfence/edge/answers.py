"""The far side's answer as a jail may have it: without the values of secrets, wherever it echoes them.

Takes: the head and the body of an answer.  Gives: the same, searched, and plain where it came compressed.
Never: passes on an answer that it could not search, or a header that leads a client elsewhere.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import h11

from ringfence.edge.decoding import coding_of, decoded
from ringfence.execution.placing import Placements
from ringfence.sanitise.known import NOTHING_KNOWN, Scrubber

# Says where else the same would be answered, over protocols that no jail can speak.
_LEADS_ELSEWHERE = frozenset({b"alt-svc"})
_OF_THE_BYTES = frozenset({b"content-encoding", b"content-length"})


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What goes on to the jail; `length` is what the far side said of a body that is as it came."""

    status: int
    reason: str
    fields: tuple[tuple[str, str], ...]
    length: int | None
    body: AsyncIterator[bytes]


def searched(response: h11.Response, body: AsyncIterator[bytes], *, placements: Placements | None) -> Answer:
    """The answer without the values that this runtime knows; in a call without secrets nothing is looked for."""
    known = placements.known if placements is not None else NOTHING_KNOWN
    # A name that holds a value could not stand there without it.
    raw = [line for line in response.headers if line[0] not in _LEADS_ELSEWHERE and not known.hits(line[0])]
    coding = coding_of(raw) if placements is not None else None
    kept = [line for line in raw if coding is None or line[0] not in _OF_THE_BYTES]
    return Answer(
        status=response.status_code,
        reason=_text(response.reason, known=known),
        fields=tuple((name.decode(), _text(value, known=known)) for name, value in kept),
        length=next((int(value) for name, value in kept if name == b"content-length"), None),
        body=body if known is NOTHING_KNOWN else _scrubbed(decoded(body, coding=coding), known=known),
    )


def _text(raw: bytes, *, known: Scrubber) -> str:
    return known.scrubbed_bytes(raw).decode("latin-1")


async def _scrubbed(pieces: AsyncIterator[bytes], *, known: Scrubber) -> AsyncIterator[bytes]:
    stream = known.stream()
    async for piece in pieces:
        yield stream.feed(piece)
    yield stream.end()
