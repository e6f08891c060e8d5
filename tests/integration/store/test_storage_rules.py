"""The database itself holds rows of storage to their rules: every statement here goes in behind the store's back."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from ringfence.store import SqliteStore
from ringfence.store.postgres import PostgresStore
from ringfence.testing.storage_suite import MINE, WRITING, running
from ringfence.testing.store_samples import Clock, furnish
from tests.cluster import Cluster
from tests.integration.store.raw import KEY, Place

pytestmark = pytest.mark.req("STO-1", "VIEW-6", "DB-2")
ROW: dict[str, Any] = {
    "agent": "ana", "scope": "tool", "owner": "look", "key": "k", "value": "1", "written_at": "2030",
    "expires_at": None, "by_tool": "look", "by_invocation": "i", "trust": "untrusted",
}  # fmt: skip
# What no row may be, by what is wrong with it.
WRONG: dict[str, dict[str, Any]] = {
    "no agent": {"agent": ""},
    "another agent": {"agent": "bo"},
    "an unknown scope": {"scope": "everybody"},
    "another tool": {"owner": "send"},
    "a tool that wrote it and is another": {"owner": "send", "by_tool": "send"},
    "another session": {"scope": "session", "owner": "s-2"},
    "an agent's own with an owner": {"scope": "agent"},
    "a session without one": {"scope": "session", "owner": ""},
    "no call": {"by_invocation": "nobody"},
    "no key": {"key": ""},
    "a key too long": {"key": "k" * 513},
    "a key too long in bytes": {"key": "ü" * 257},
    "no JSON": {"value": "{"},
    "a value too long": {"value": '"' + "x" * (1 << 20) + '"'},
    "over before it was": {"expires_at": "2029"},
    "another trust": {"trust": "believed"},
}


@pytest.fixture
async def filled(store: SqliteStore) -> SqliteStore:
    await running(store, "i")
    return store


def inserted(connection: sqlite3.Connection, **changes: Any) -> None:
    row = {**ROW, **changes}
    names = ", ".join(row)
    connection.execute(f"INSERT INTO storage_rows ({names}) VALUES ({', '.join('?' * len(row))})", tuple(row.values()))


@pytest.mark.parametrize("wrong", WRONG)
async def test_a_file_admits_no_row_that_is_not_its_writers(filled: SqliteStore, place: Place, wrong: str) -> None:
    connection = sqlite3.connect(place.path)
    with pytest.raises(sqlite3.IntegrityError):
        inserted(connection, **WRONG[wrong])
    inserted(connection)
    connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE storage_rows SET agent = 'bo'",
        "UPDATE storage_rows SET owner = 'send', by_tool = 'send'",
        "UPDATE storage_rows SET key = 'other'",
        "UPDATE storage_rows SET by_invocation = 'nobody'",
        "INSERT OR REPLACE INTO storage_rows (agent, scope, owner, key, value, written_at, by_tool, by_invocation)"
        " VALUES ('ana', 'tool', 'look', 'k', '2', '2030', 'look', 'i')",
        "UPDATE storage_use SET count = -1",
    ],
)
async def test_a_file_lets_no_row_move_or_be_replaced(filled: SqliteStore, place: Place, statement: str) -> None:
    await filled.storage.put(MINE, "k", "1", writing=WRITING)
    connection = sqlite3.connect(place.path)
    with pytest.raises(sqlite3.IntegrityError):
        connection.execute(statement)
    connection.close()


async def test_what_is_counted_is_what_there_is(filled: SqliteStore, place: Place) -> None:
    roomy = replace(WRITING, quota=replace(WRITING.quota, rows=100, bytes=10_000, agent_bytes=10_000))
    own = replace(MINE, scope="agent", owner="")
    for number in range(20):
        await filled.storage.put(MINE, f"k{number % 7}", f'"{"x" * number}"', writing=roomy)
        await filled.storage.put(own, f"ü{number % 3}", str(number), writing=roomy)
        await filled.storage.delete(MINE, f"k{number % 5}")
    connection = sqlite3.connect(place.path)
    counted = connection.execute("SELECT scope, count, bytes FROM storage_use ORDER BY scope").fetchall()
    there = connection.execute(
        "SELECT scope, count(*), sum(length(CAST(key AS BLOB)) + length(CAST(value AS BLOB))) FROM storage_rows"
        " GROUP BY scope ORDER BY scope"
    ).fetchall()
    connection.close()
    in_all = ("all", sum(row[1] for row in there), sum(row[2] for row in there))
    assert counted == sorted([*there, in_all])
    assert in_all[1] > 0


@pytest.fixture
async def served(cluster: Cluster, database: str) -> AsyncIterator[PostgresStore]:
    store = PostgresStore.open(cluster.url(database, user="person"), signing_key=KEY, anchor=None, now=Clock())
    await furnish(store)
    await running(store, "i")
    yield store
    await store.close()


def statement(cluster: Cluster, database: str, sql: str, *, user: str, role: str | None = None) -> None:
    with psycopg.connect(cluster.url(database, user=user)) as connection:
        connection.execute("SET search_path = ringfence")
        if role is not None:
            connection.execute(f"SET ROLE {role}".encode())
        connection.execute(sql.encode())


def literal(value: Any) -> str:
    return "NULL" if value is None else "'" + str(value).replace("'", "''") + "'"


def insert(**changes: Any) -> str:
    row = {**ROW, **changes}
    return f"INSERT INTO storage_rows ({', '.join(row)}) VALUES ({', '.join(map(literal, row.values()))})"


@pytest.mark.parametrize("wrong", WRONG)
async def test_a_server_admits_no_row_that_is_not_its_writers(
    served: PostgresStore, cluster: Cluster, database: str, wrong: str
) -> None:
    with pytest.raises(psycopg.Error):
        statement(cluster, database, insert(**WRONG[wrong]), user="gateway")
    statement(cluster, database, insert(), user="gateway")


@pytest.mark.req("DB-3")
@pytest.mark.parametrize(
    ("sql", "role"),
    [
        ("UPDATE storage_rows SET agent = 'bo'", "ringfence_application"),
        ("UPDATE storage_rows SET key = 'other'", "ringfence_application"),
        ("UPDATE storage_use SET count = 0", "ringfence_application"),
        ("DELETE FROM storage_use", "ringfence_application"),
        ("INSERT INTO storage_use VALUES ('bo', 'all', '', 0, 0)", "ringfence_application"),
        ("TRUNCATE storage_rows", "ringfence_application"),
        ("SELECT * FROM storage_rows", "ringfence_approver"),
        ("SELECT * FROM storage_rows", "ringfence_operator"),
        (insert(key="l"), "ringfence_approver"),
        (insert(key="l"), "ringfence_operator"),
        ("DELETE FROM storage_rows", "ringfence_operator"),
    ],
)
async def test_each_role_does_its_own_part_with_rows(
    served: PostgresStore, cluster: Cluster, database: str, sql: str, role: str
) -> None:
    await served.storage.put(MINE, "k", "1", writing=WRITING)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        statement(cluster, database, sql, user="person", role=role)
