"""What a connection of a running store may ask of SQLite: rows, and nothing about the schema or the file.

Takes: a connection.  Gives: the same, fenced.
Never: is a wall: whoever has the file can open it without this; it stops mistakes, and statements slipped in.
"""

from __future__ import annotations

import sqlite3

# The actions that rows need; any other, such as a change of schema, PRAGMA, ATTACH or DETACH, is refused.
_ROWS = frozenset({
    sqlite3.SQLITE_SELECT,       # every query
    sqlite3.SQLITE_READ,         # its columns
    sqlite3.SQLITE_INSERT,       # triggers decide whether
    sqlite3.SQLITE_UPDATE,       # triggers decide whether
    sqlite3.SQLITE_DELETE,       # triggers decide whether
    sqlite3.SQLITE_FUNCTION,     # coalesce, json_each and their like; `_LOADING` is not among them
    sqlite3.SQLITE_TRANSACTION,  # BEGIN, COMMIT, ROLLBACK
    sqlite3.SQLITE_RECURSIVE,    # a query that refers to itself reads and nothing more
})  # fmt: skip
_LOADING = frozenset({"load_extension"})


# SQLite makes the table behind this function when it is first asked for, and calls that a change of schema.
FIRST = "SELECT 1 FROM json_each('[]')"


def fence(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Refuse, from now on, whatever is not about rows; `FIRST` was asked before."""
    connection.set_authorizer(_judge)
    return connection


def _judge(action: int, _first: str | None, second: str | None, _database: str | None, _trigger: str | None) -> int:
    if action not in _ROWS:
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_FUNCTION and second in _LOADING:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK
