"""One of several processes that want the same thing at once, told what by its standard input.

Words: `key N` (start a call under a key that all share), `warrant ID` (start a call that was voted on),
`vote ID VOTER`, `bucket N` (draw one of three tokens), `swap N` (set a row that nobody has set), `row N` (one of three
rows that there is room for), `cap N` (take 3 of 10), `quit`.
Each answers with one line: `ok`, or the code of the refusal.
"""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import replace
from decimal import Decimal

from ringfence.agents.rates import Rate
from ringfence.agents.spending import SpendCap
from ringfence.errors import CallRefused, RingfenceError
from ringfence.execution.storage import Label, Namespace, StorageQuota, Writing
from ringfence.policy.quotas import Draw
from ringfence.policy.spending import PARTS, Spend
from ringfence.store import SqliteStore
from ringfence.store.kept import KeptStore
from ringfence.store.postgres import PostgresStore
from ringfence.testing.store_samples import Clock, allowed, by_votes, call, look, noted, request, send, told, vote
from tests.integration.store.raw import KEY

THREE = Rate(count=3, seconds=3_600)
TEN = SpendCap(tools="*", most=Decimal(10), per="day", amount=("x",))
SPACE = Namespace(agent="ana", scope="tool", owner="look")
ROWS = Label(tool="look", invocation_id="rows")


def opened(url: str) -> KeptStore:
    if url.startswith("postgresql:"):
        return PostgresStore.open(url, signing_key=KEY, anchor=None, now=Clock())
    return SqliteStore.open(url, signing_key=KEY, anchor=None, now=Clock(), patience=30)


async def obey(store: KeptStore, word: str, about: str, more: list[str]) -> None:
    me = os.getpid()
    if word == "key":
        one = call(f"{about}-{me}", look, idempotency_key=f"shared-{about}")
        await store.start(one, warrant=allowed(one), durability="full", events=[noted("started")])
    elif word == "warrant":
        one = call(about, send)
        await store.start(one, warrant=by_votes(request(one)), durability="full", events=[noted("started")])
    elif word == "vote":
        await store.cast(vote(request(call(about, send)), more[0]), tell=told)
    elif word == "bucket":
        one = call(f"{about}-{me}", look)
        draw = Draw(agent="ana", binding="", pattern=about, rate=THREE)
        await store.start(one, warrant=allowed(one), durability="normal", events=[noted("drawn")], draws=[draw])
    elif word == "swap":
        writing = Writing(label=ROWS, quota=StorageQuota(), durability="full")
        if not await store.storage.swap(SPACE, about, expected="null", value=str(me), writing=writing):
            raise CallRefused("another was first", code="in_flight")
    elif word == "row":
        quota = StorageQuota(rows=3)
        space = Namespace(agent="ana", scope="session", owner=more[0])
        writing = Writing(label=Label(tool="look", invocation_id=f"rows-{more[0]}"), quota=quota, durability="full")
        await store.storage.put(space, f"{about}-{me}", "1", writing=writing)
    elif word == "cap":
        one = call(f"{about}-{me}", look)
        spend = Spend(agent="ana", binding="", cap=replace(TEN, tools=about), taken=3 * PARTS)
        await store.start(one, warrant=allowed(one), durability="normal", events=[noted("spent")], spends=[spend])
    else:
        raise AssertionError(word)


async def main(url: str) -> None:
    store = opened(url)
    print("ready", flush=True)
    for line in sys.stdin:
        word, *rest = line.split()
        if word == "quit":
            break
        try:
            await obey(store, word, rest[0], rest[1:])
            answer = "ok"
        except RingfenceError as error:
            answer = error.code
        print(answer, flush=True)
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
