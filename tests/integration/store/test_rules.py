"""The database refuses what the rules forbid, whoever asks: every statement here goes in behind the store's back."""

from __future__ import annotations

import re
import sqlite3
from itertools import product
from typing import Any

import pytest

from ringfence.runtime.invocation import MOVES, Status
from ringfence.store import SqliteStore
from ringfence.testing.store_samples import (
    allowed,
    ask,
    by_votes,
    call,
    ended,
    look,
    noted,
    queue,
    send,
    told,
    vote,
)
from tests.integration.store.raw import Place, refused

ILLEGAL = [(was, to) for was, to in product(Status, Status) if to not in MOVES.get(was, frozenset())]
MOBILE = {
    "status", "approval_status", "approval_reason", "code", "outcome", "cost_estimate", "started_at", "completed_at",
    "resolved_at",
}  # fmt: skip
FOREVER = ("tools", "sessions", "votes", "warrants", "audit_events", "audit_checkpoints")


async def bring_to(store: SqliteStore, status: Any) -> None:
    """A call `i` in this state, by legal moves; `proposed` is only ever seen inside a transaction."""
    invocation = call("i", send)
    if status is Status.REFUSED:
        await store.refuse(invocation, code="policy_denied", events=[])
        return
    approval = await ask(store, invocation)
    if status is Status.REJECTED:
        await store.cast(vote(approval, "dan", "reject"), tell=told)
    elif status in (Status.VOID, Status.EXPIRED):
        await store.withdraw("i", to=status, code="approval_void", events=[])
    elif status is not Status.PENDING:
        await store.cast(vote(approval, "dan"), tell=told)
        if status is Status.CANCELLED:
            await store.withdraw("i", to=status, code="cancelled", events=[])
        elif status is not Status.QUEUED:
            await store.start(invocation, warrant=by_votes(approval), durability="full", events=[])
            if status in (Status.COMPLETED, Status.FAILED, Status.IN_DOUBT):
                await store.finish("i", ending=ended(status), durability="full", events=[])


def propose(connection: sqlite3.Connection, **changes: Any) -> None:
    row: dict[str, Any] = {
        "id": "i", "session": "s", "agent": "ana", "proposers": '["alice"]', "tool": "send",
        "fingerprint": send.fingerprint, "arguments": "{}", "arguments_digest": "d", "idempotency_key": "k",
        "status": "proposed", "proposed_at": "2030", **changes,
    }  # fmt: skip
    columns, marks = ", ".join(row), ", ".join("?" * len(row))
    connection.execute(f"INSERT INTO invocations ({columns}) VALUES ({marks})", (*row.values(),))


@pytest.mark.req("DB-2")
async def test_the_trigger_lists_the_moves_that_the_code_knows(store: SqliteStore, place: Place) -> None:
    with place.raw() as raw:
        (sql,) = raw.execute("SELECT sql FROM sqlite_master WHERE name = 'invocations_move'").fetchone()
    (cases,) = re.findall(r"WHEN CASE OLD.status(.*?)END IS NOT 1", sql, flags=re.DOTALL)
    arms = re.findall(r"WHEN '(\w+)' THEN(.*?)(?=WHEN|\Z)", cases, flags=re.DOTALL)
    listed = {(was, to) for was, targets in arms for to in re.findall(r"NEW.status = '(\w+)'", targets)}
    assert listed == {(was.value, to.value) for was, targets in MOVES.items() for to in targets}


@pytest.mark.req("DB-2")
@pytest.mark.parametrize(("was", "to"), ILLEGAL, ids=lambda status: str(status))
async def test_an_illegal_move_is_refused(store: SqliteStore, place: Place, was: Status, to: Status) -> None:
    with place.raw() as raw:
        if was is Status.PROPOSED:
            propose(raw)
        else:
            await bring_to(store, was)
        assert raw.execute("SELECT status FROM invocations WHERE id = 'i'").fetchone() == (was.value,)
        said = refused(raw, "UPDATE invocations SET status = ? WHERE id = 'i'", to.value)
        assert said == "misuse: a call does not move this way"
        refused(raw, "UPDATE OR REPLACE invocations SET status = ? WHERE id = 'i'", to.value)


@pytest.mark.req("DB-2", "APR-3")
@pytest.mark.parametrize("status", [status for status in Status if status is not Status.PROPOSED])
async def test_a_call_begins_as_proposed(store: SqliteStore, place: Place, status: Status) -> None:
    with place.raw() as raw, pytest.raises(sqlite3.IntegrityError, match="begins as proposed"):
        propose(raw, status=status.value)


@pytest.mark.req("DB-2", "APR-3")
async def test_a_queued_call_does_not_run_without_a_warrant(store: SqliteStore, place: Place) -> None:
    approval = await queue(store, call("i", send))
    other = await queue(store, call("j", send))
    with place.raw() as raw:
        assert "by a warrant" in refused(raw, "UPDATE invocations SET status = 'running' WHERE id = 'i'")
        warrant = "INSERT INTO warrants VALUES (?, ?, ?, ?, '2030', NULL, '2031')"
        assert "by votes alone" in refused(raw, warrant, "i", "allowed", None, approval.digest)
        assert "not for this call" in refused(raw, warrant, "i", "votes", approval.id, "sha256:other")
        assert "not for this call" in refused(raw, warrant, "i", "votes", other.id, other.digest)
        assert "no such call" in refused(raw, warrant, "nobody", "allowed", None, "d")
        raw.execute(warrant, ("i", "votes", approval.id, approval.digest))
        assert raw.execute("SELECT status FROM invocations WHERE id = 'i'").fetchone() == ("running",)
        again = warrant.replace("INSERT", "INSERT OR REPLACE")
        assert refused(raw, again, "i", "votes", approval.id, approval.digest).startswith("in_flight")


@pytest.mark.req("DB-2", "APR-3")
async def test_an_allowed_warrant_starts_only_what_needs_no_approval(store: SqliteStore, place: Place) -> None:
    warrant = "INSERT INTO warrants VALUES (?, 'allowed', NULL, 'd', '2030', NULL, '2031')"
    with place.raw() as raw:
        propose(raw, id="writes")
        propose(raw, id="reads", tool="look", fingerprint=look.fingerprint)
        assert "needs an approval on record" in refused(raw, warrant, "writes")
        raw.execute("UPDATE invocations SET status = 'queued' WHERE id = 'writes'")
        assert "needs an approval on record" in refused(raw, warrant, "writes")
        raw.execute(warrant, ("reads",))


@pytest.mark.req("DB-2")
@pytest.mark.parametrize(
    ("safety", "egress", "route", "needed"),
    [
        ("network", "write", "auto", 1),
        ("write", "write", "auto", 1),
        ("financial", "none", "auto", 1),
        ("privileged", "none", "auto", 1),
        ("read", "none", "human", 1),
        ("read", "none", "dual", 1),
        ("read", "read_only", "auto", 0),
        ("write", "none", "auto", 0),
    ],
)
async def test_approval_follows_from_the_contract(
    store: SqliteStore, place: Place, safety: str, egress: str, route: str, needed: int
) -> None:
    document = f'{{"name":"t","safety":"{safety}","egress":"{egress}","approval":"{route}"}}'
    columns = "name, fingerprint, document, safety_class, egress_class, approval_route, description_hash, registered_at"
    values = ("t", "f", document, safety, egress, route, "h", "2030")
    marks = "?, " * len(values) + "?"
    with place.raw() as raw:
        raw.execute(f"INSERT INTO tools ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)
        assert raw.execute("SELECT requires_approval FROM tools WHERE name = 't'").fetchone() == (needed,)
        for wanted in (0, None):
            with pytest.raises(sqlite3.OperationalError, match="generated column"):
                raw.execute("UPDATE tools SET requires_approval = ?", (wanted,))
            with pytest.raises(sqlite3.OperationalError, match="generated column"):
                raw.execute(f"INSERT INTO tools ({columns}, requires_approval) VALUES ({marks})", (*values, wanted))


@pytest.mark.req("DB-2")
async def test_a_contract_cannot_be_filed_under_a_milder_class(store: SqliteStore, place: Place) -> None:
    document = '{"name":"t","safety":"network","egress":"write","approval":"auto"}'
    with place.raw() as raw:
        for safety, egress in (("read", "write"), ("network", "none"), ("network", None)):
            assert refused(
                raw,
                "INSERT INTO tools (name, fingerprint, document, safety_class, egress_class, approval_route,"
                " description_hash, registered_at) VALUES ('t', 'f', ?, ?, ?, 'auto', 'h', '2030')",
                document, safety, egress,
            )  # fmt: skip


@pytest.mark.req("DB-2", "AUD-1")
@pytest.mark.parametrize("table", FOREVER)
async def test_a_row_that_never_changes_cannot_be_changed_removed_or_replaced(
    store: SqliteStore, place: Place, table: str
) -> None:
    await bring_to(store, Status.COMPLETED)
    await store.open_session("s", agent="ana", binding=None, user=None)
    await store.checkpoint()
    with place.raw() as raw:
        columns = [
            (name, hidden) for _, name, _, _, _, _, hidden in raw.execute(f"PRAGMA table_xinfo({table})")
        ]  # fmt: skip
        before = raw.execute(f"SELECT * FROM {table}").fetchall()
        assert before
        plain = [name for name, hidden in columns if not hidden]
        for name in plain:
            refused(raw, f"UPDATE {table} SET {name} = {name}")
            refused(raw, f"UPDATE OR REPLACE {table} SET {name} = {name}")
        refused(raw, f"DELETE FROM {table}")
        listed = ", ".join(plain)
        for row in raw.execute(f"SELECT {listed} FROM {table}").fetchall():
            marks = ", ".join("?" * len(plain))
            for verb in ("INSERT", "INSERT OR REPLACE", "REPLACE", "INSERT OR IGNORE"):
                refused(raw, f"{verb} INTO {table} ({listed}) VALUES ({marks})", *row)
            upsert = f"ON CONFLICT DO UPDATE SET {plain[0]} = 'x'"
            refused(raw, f"INSERT INTO {table} ({listed}) VALUES ({marks}) {upsert}", *row)
        assert raw.execute(f"SELECT * FROM {table}").fetchall() == before


@pytest.mark.req("DB-2")
async def test_rows_that_move_keep_what_was_proposed_and_shown(store: SqliteStore, place: Place) -> None:
    await queue(store, call("i", send))
    await queue(store, call("j", send))
    with place.raw() as raw:
        for table in ("invocations", "approvals"):
            for _, name, *_ in raw.execute(f"PRAGMA table_info({table})").fetchall():
                said = refused(raw, f"UPDATE {table} SET {name} = 77")
                assert name in MOBILE or "does not change" in said
            refused(raw, f"DELETE FROM {table}")
        assert "does not change" in refused(raw, "UPDATE OR REPLACE invocations SET rowid = 1 WHERE id = 'j'")
        refused(raw, "INSERT OR REPLACE INTO invocations SELECT * FROM invocations")
        refused(raw, "INSERT OR REPLACE INTO approvals SELECT * FROM approvals")


@pytest.mark.req("DB-2", "APR-4")
async def test_a_request_moves_only_by_the_votes_that_were_given(store: SqliteStore, place: Place) -> None:
    approval = await ask(store, call("i", send), votes_needed=2)
    ballot = "INSERT INTO votes VALUES (?, ?, ?, ?, ?, 'cli', ?)"
    in_time, late = "2030-01-01T12:00:00.000000+00:00", "2030-01-02T12:00:00.000000+00:00"
    with place.raw() as raw:
        for proposer in approval.proposers:
            said = refused(raw, ballot, approval.id, proposer, approval.digest, "approve", None, in_time)
            assert "whoever proposed" in said
        assert "expired" in refused(raw, ballot, approval.id, "dan", approval.digest, "approve", None, late)
        assert "something else" in refused(raw, ballot, approval.id, "dan", "other", "approve", None, in_time)
        raw.execute(ballot, (approval.id, "dan", approval.digest, "approve", None, in_time))
        assert "once" in refused(raw, ballot, approval.id, "dan", approval.digest, "approve", None, in_time)
        assert "too few" in refused(raw, "UPDATE approvals SET status = 'approved'")
        assert "nobody rejected" in refused(raw, "UPDATE approvals SET status = 'rejected'")
        assert "with its request" in refused(raw, "UPDATE invocations SET status = 'queued'")
        assert "repeats" in refused(raw, "UPDATE invocations SET approval_status = 'approved'")
        assert "repeats" in refused(raw, "UPDATE invocations SET approval_status = NULL")
        raw.execute(ballot, (approval.id, "eve", approval.digest, "reject", "no", in_time))
        raw.execute(ballot, (approval.id, "fay", approval.digest, "approve", None, in_time))
        assert "somebody rejected" in refused(raw, "UPDATE approvals SET status = 'approved'")
        raw.execute("UPDATE approvals SET status = 'rejected', resolved_at = '2030'")
        row = raw.execute("SELECT status, approval_status, approval_reason FROM invocations").fetchone()
        assert row == ("rejected", "rejected", "no")
        assert "no more votes" in refused(raw, ballot, approval.id, "gus", approval.digest, "approve", None, in_time)


@pytest.mark.req("DB-2")
async def test_a_started_call_keeps_its_approval(store: SqliteStore, place: Place) -> None:
    await bring_to(store, Status.RUNNING)
    with place.raw() as raw:
        assert "move this way" in refused(raw, "UPDATE approvals SET status = 'void'")


@pytest.mark.req("DB-2")
async def test_a_pin_stays_until_a_person_accepts_another(store: SqliteStore, place: Place) -> None:
    with place.raw() as raw:
        refused(raw, "DELETE FROM pins")
        refused(raw, "INSERT OR REPLACE INTO pins SELECT * FROM pins")
        assert "waits for a person" in refused(raw, "UPDATE pins SET fingerprint = 'x', accepted_by = NULL")
        assert "registered contract" in refused(raw, "UPDATE pins SET fingerprint = 'x', accepted_by = 'bob'")


@pytest.mark.req("DB-2")
async def test_the_times_and_the_reason_of_a_call_are_on_its_row(store: SqliteStore, place: Place) -> None:
    columns = "status, approval_status, approval_reason, proposed_at, started_at, completed_at, cost_estimate"
    at = "2030-01-01T12:00:00.000000+00:00"
    await bring_to(store, Status.COMPLETED)
    invocation = call("j")
    await store.start(invocation, warrant=allowed(invocation), durability="normal", events=[noted("x")])
    with place.raw() as raw:
        rows = raw.execute(f"SELECT {columns} FROM invocations ORDER BY id").fetchall()
    assert rows == [
        ("completed", "approved", None, at, at, at, "0.01"),
        ("running", None, None, at, at, None, None),
    ]
