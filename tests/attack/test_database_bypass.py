"""Whatever SQL an application process tries, the database holds its rules."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest

from ringfence.agents.spending import SpendCap
from ringfence.policy.spending import Spend
from ringfence.runtime.freezing import Freeze, Scope
from ringfence.runtime.invocation import Status
from ringfence.store import SqliteStore
from ringfence.store.kept import KeptStore
from ringfence.store.postgres import PostgresStore
from ringfence.testing.store_samples import (
    START,
    Clock,
    allowed,
    ask,
    by_votes,
    call,
    ended,
    furnish,
    look,
    noted,
    queue,
    send,
)
from tests.attack.database_bypass import BYPASSES, Bypass
from tests.cluster import Cluster
from tests.integration.store.raw import KEY

CAP = SpendCap(tools="*", most=Decimal(9), per="day", amount=("x",))


async def put_there(store: KeptStore) -> None:
    """The rows that the attempts are about."""
    await furnish(store)
    await ask(store, call("p", send))
    await queue(store, call("q", send))
    spend = Spend(agent="ana", binding="", cap=CAP, taken=3)
    for id_ in ("r", "d"):
        one = call(id_, look)
        await store.start(one, warrant=allowed(one), durability="full", events=[noted(id_)], spends=[spend])
    await store.finish("d", ending=ended(), durability="full", events=[noted("done")])
    doubted = await queue(store, call("u", send))
    await store.start(call("u", send), warrant=by_votes(doubted), durability="full", events=[])
    await store.finish("u", ending=ended(Status.IN_DOUBT), durability="full", events=[])
    freeze = Freeze(id="f", scope=Scope(agent="nobody"), by="bob", because="x", at=START)
    await store.freeze(freeze, tell=lambda _: [noted("frozen")])
    await store.enlist(until=START)
    await store.checkpoint()


@pytest.fixture
async def sqlite(tmp_path: Path) -> AsyncIterator[sqlite3.Connection]:
    store = SqliteStore.open(tmp_path / "s.db", signing_key=KEY, anchor=None, now=Clock())
    await put_there(store)
    yield store.database.writer_lane.connection
    await store.close()


@pytest.fixture
async def postgres(cluster: Cluster, database: str) -> AsyncIterator[psycopg.Connection[Any]]:
    store = PostgresStore.open(cluster.url(database, user="person"), signing_key=KEY, anchor=None, now=Clock())
    await put_there(store)
    await store.close()
    with psycopg.connect(cluster.url(database, user="gateway"), autocommit=True) as connection:
        connection.execute("SET search_path = ringfence, pg_temp")
        connection.execute("SET ROLE ringfence_application")
        yield connection


# A refusal for the wrong reason is a mistake of the list.
_MISTAKES = (
    psycopg.errors.SyntaxError,
    psycopg.errors.UndefinedObject,
    psycopg.errors.UndefinedColumn,
    psycopg.errors.UndefinedTable,
)


def on_file(connection: sqlite3.Connection, bypass: Bypass) -> str:
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(bypass.statement)
    except sqlite3.DatabaseError as refused:
        return "mistaken" if str(refused).startswith(("no such", "near ")) else "refused"
    else:
        return "passed"
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def on_server(connection: psycopg.Connection[Any], bypass: Bypass) -> str:
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(bypass.statement.encode())
    except psycopg.Error as refused:
        return "mistaken" if isinstance(refused, _MISTAKES) else "refused"
    return "passed"


@pytest.mark.req("DB-2", "DB-3", "IDM-2")
async def test_no_statement_of_the_list_passes_on_a_file(sqlite: sqlite3.Connection) -> None:
    answers = {each.aim: on_file(sqlite, each) for each in BYPASSES if "sqlite" in each.on}
    assert {aim: answer for aim, answer in answers.items() if answer != "refused"} == {}


@pytest.mark.req("DB-2", "DB-3", "IDM-2")
async def test_no_statement_of_the_list_passes_on_a_server(postgres: psycopg.Connection[Any]) -> None:
    answers = {each.aim: on_server(postgres, each) for each in BYPASSES if "postgres" in each.on}
    assert {aim: answer for aim, answer in answers.items() if answer != "refused"} == {}


@pytest.mark.req("DB-3")
def test_the_list_is_long_and_names_both() -> None:
    for dialect in ("sqlite", "postgres"):
        assert sum(dialect in bypass.on for bypass in BYPASSES) >= 50
