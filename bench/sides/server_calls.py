"""Governed calls of one process against a PostgreSQL, without a jail: told how long, it says how many it made.

Takes: an address, then seconds, one number a line.  Gives: calls made and nanoseconds taken, one line each.
Never: leaves out a part of the trail; each call is the look at the ledger, the start and the end, with four events.
"""

from __future__ import annotations

import asyncio
import secrets
import sys
import time

from bench.sides.kept_calls import SIGNING_KEY, governed
from ringfence.assembly.assemble import utc_now
from ringfence.store.postgres import PostgresStore


async def main(url: str) -> None:
    store = PostgresStore.open(url, signing_key=SIGNING_KEY, anchor=None, now=utc_now)
    _say("ready")
    for line in sys.stdin:
        made, begun = 0, time.perf_counter_ns()
        end = begun + round(float(line) * 1e9)
        while time.perf_counter_ns() < end:
            await governed(store, secrets.token_hex(12), durability="full")
            made += 1
        _say(f"{made} {time.perf_counter_ns() - begun}")
    await store.close()


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
