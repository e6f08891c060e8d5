"""Attack 158, on SQLite: whoever holds the file changes what happened, and the database or the proof says no."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from ringfence.assembly.assemble import utc_now
from ringfence.audit.verify import Report
from ringfence.errors import RingfenceError
from tests.acceptance.spine.household import Clock, assert_completed, assert_waiting, config, open_house

PAY = ("pay", {"to": "shop", "amount": 5})

STATEMENTS = {
    "edit the trail": "UPDATE audit_events SET agent = 'eve'",
    "edit a body": "UPDATE audit_events SET body = '{}'",
    "forget": "DELETE FROM audit_events",
    "forget a body": "UPDATE audit_events SET body = NULL",
    "replace": "INSERT OR REPLACE INTO audit_events SELECT * FROM audit_events",
    "forget what was signed": "DELETE FROM audit_checkpoints",
    "need no approval": "UPDATE tools SET requires_approval = 0",
    "be of another class": "UPDATE tools SET safety_class = 'read'",
    "be approved": "UPDATE approvals SET status = 'approved'",
    "run": "UPDATE invocations SET status = 'running' WHERE status = 'pending'",
    "not have run": "UPDATE invocations SET status = 'proposed' WHERE status = 'completed'",
    "run without votes": "INSERT INTO warrants SELECT id, 'allowed', NULL, arguments_digest, '2030', NULL, NULL"
    " FROM invocations WHERE status = 'pending'",
    "pin another contract": "UPDATE pins SET fingerprint = 'sha256:other'",
    "forget a pin": "DELETE FROM pins",
    "forget a vote": "DELETE FROM votes",
    "replace a vote": "INSERT OR REPLACE INTO votes SELECT * FROM votes",
}


async def lived_in(folder: Path, *, rounds: int = 1) -> None:
    """A store with a call that ran, one that was approved and ran, and one that waits."""
    async with open_house(config(folder), clock=Clock(at=utc_now())) as house:
        for _ in range(rounds):
            assert_completed(await house.call("echo", {"text": "x"}))
            asked = assert_waiting(await house.call(*PAY))
            await house.vote(asked, "alice")
            assert_waiting(await house.call("grant_access", {"person": "x"}))


def database(folder: Path) -> Path:
    return folder / "state" / "ringfence.db"


@contextmanager
def raw(folder: Path) -> Generator[sqlite3.Connection, None, None]:
    with closing(sqlite3.connect(database(folder), isolation_level=None)) as connection:
        yield connection


def unguard(connection: sqlite3.Connection) -> None:
    """The whole file in a stranger's hands: no rule of the database is left."""
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        connection.execute(f"DROP TRIGGER {name}")


def is_refused(connection: sqlite3.Connection, statement: str) -> bool:
    try:
        connection.execute(statement)
    except (sqlite3.IntegrityError, sqlite3.OperationalError):
        return True
    return False


async def proof(folder: Path) -> Report | RingfenceError:
    """What `audit verify` says, or the refusal to open the store at all."""
    try:
        async with open_house(config(folder), clock=Clock(at=utc_now())) as house:
            return await house.runtime.audit.verify()
    except RingfenceError as refusal:
        return refusal


@pytest.mark.req("DB-2", "AUD-2")
async def test_158_no_statement_changes_what_happened(tmp_path: Path) -> None:
    await lived_in(tmp_path)
    with raw(tmp_path) as connection:
        before = list(connection.iterdump())
        for what, statement in STATEMENTS.items():
            assert is_refused(connection, statement), what
        assert list(connection.iterdump()) == before
    report = await proof(tmp_path)
    assert isinstance(report, Report)
    assert report.ok


@pytest.mark.req("DB-2")
async def test_158_without_the_rules_the_same_statements_succeed(tmp_path: Path) -> None:
    """The control: each statement is one that SQLite itself would carry out."""
    await lived_in(tmp_path)
    generated = {"need no approval"}
    for what, statement in STATEMENTS.items():
        if what not in generated:
            with raw(tmp_path) as connection:
                connection.execute("BEGIN")
                unguard(connection)
                connection.execute("PRAGMA ignore_check_constraints = ON")
                assert connection.execute(statement).rowcount > 0, what
                connection.execute("ROLLBACK")


TAMPERED = {
    "cut": ("DELETE FROM audit_events WHERE id IN (SELECT id FROM audit_events ORDER BY id DESC LIMIT 10)",),
    "cut with its checkpoints": (
        "DELETE FROM audit_events WHERE id IN (SELECT id FROM audit_events ORDER BY id DESC LIMIT 10)",
        "DELETE FROM audit_checkpoints WHERE number > 1",
    ),
    "another agent": ("UPDATE audit_events SET agent = 'eve' WHERE agent IS NOT NULL",),
    "another argument": ("UPDATE audit_events SET body = replace(body, 'shop', 'shed')",),
    "a pin": ("UPDATE pins SET fingerprint = 'sha256:' || substr(hex(zeroblob(32)), 1, 64)",),
}


@pytest.mark.req("AUD-2")
@pytest.mark.parametrize("how", TAMPERED)
async def test_158_a_file_that_was_edited_behind_the_rules_shows(tmp_path: Path, how: str) -> None:
    for _ in range(4):
        await lived_in(tmp_path)
    untouched = await proof(tmp_path)
    assert isinstance(untouched, Report)
    assert untouched.ok
    with raw(tmp_path) as connection:
        unguard(connection)
        for statement in TAMPERED[how]:
            connection.execute(statement)
    told = await proof(tmp_path)
    assert isinstance(told, RingfenceError) or not told.ok


@pytest.mark.req("AUD-2")
async def test_158_an_older_copy_of_the_file_shows_beside_the_kept_anchor(tmp_path: Path) -> None:
    await lived_in(tmp_path)
    older = shutil.copy(database(tmp_path), tmp_path / "older.db")
    await lived_in(tmp_path)
    for name in ("ringfence.db-wal", "ringfence.db-shm"):
        (tmp_path / "state" / name).unlink(missing_ok=True)
    shutil.copy(older, database(tmp_path))
    told = await proof(tmp_path)
    assert isinstance(told, RingfenceError) or not told.ok
