"""A process that opens a store and does what its standard input says, one word a line.

Words: `open`, `start ID` (by votes, full), `allow ID` (allowed, normal), `vote ID VOTER`, `lock`, `unlock`, `quit`.
Each answers with one line: `ok`, or the code of the refusal.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from pathlib import Path

from ringfence.errors import RingfenceError
from ringfence.store import SqliteStore
from ringfence.testing.store_samples import allowed, by_votes, call, noted, request, send, told, vote
from tests.integration.store.raw import Place


async def obey(store: SqliteStore, word: str, arguments: list[str]) -> None:
    id_ = arguments[0]
    if word == "start":
        warrant = by_votes(request(call(id_, send)))
        await store.start(call(id_, send), warrant=warrant, durability="full", events=[noted("started")])
    elif word == "allow":
        await store.start(call(id_), warrant=allowed(call(id_)), durability="normal", events=[noted("started")])
    elif word == "vote":
        await store.cast(vote(request(call(id_, send)), arguments[1]), tell=told)
    else:
        raise AssertionError(word)


async def main(folder: Path) -> None:
    place = Place(folder=folder)
    held = sqlite3.connect(place.path, isolation_level=None, timeout=10)
    store: SqliteStore | None = None
    for line in sys.stdin:
        word, *arguments = line.split()
        answer = "ok"
        if word == "quit":
            break
        try:
            if word == "open":
                store = place.open()
            elif word == "lock":
                held.execute("BEGIN IMMEDIATE")
            elif word == "unlock":
                held.execute("ROLLBACK")
            else:
                assert store is not None
                await obey(store, word, arguments)
        except RingfenceError as error:
            answer = error.code
        print(answer, flush=True)
    held.close()
    if store is not None:
        await store.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
