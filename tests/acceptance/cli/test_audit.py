"""`ringfence audit` reads, proves and exports the trail."""

from __future__ import annotations

import json
import sqlite3
import stat

import pytest

from tests.acceptance.cli.typed import Shop


@pytest.fixture
def used_shop(shop: Shop) -> Shop:
    assert shop.typed("call", "ana", "greet", '{"name": "Ada"}').code == 0
    assert shop.typed("call", "ana", "nothing", "{}").code == 4
    return shop


@pytest.mark.req("AUD-2")
def test_a_whole_trail_verifies_with_exit_code_zero(used_shop: Shop) -> None:
    came = used_shop.typed("audit", "verify", "--json")
    assert came.code == 0
    assert came.document["ok"] is True
    assert came.document["problems"] == []
    assert came.document["anchored"] == came.document["checkpoints"] > 0


@pytest.mark.req("AUD-2")
def test_a_changed_row_is_found_and_the_exit_code_is_one(used_shop: Shop) -> None:
    alter(used_shop, "greet", "gr33t")
    came = used_shop.typed("audit", "verify", "--json")
    assert came.code == 1
    assert came.document["ok"] is False
    assert any("altered" in problem for problem in came.document["problems"])
    told = used_shop.typed("audit", "verify")
    assert told.code == 1
    assert told.out.startswith("problem: the trail is broken: ")


@pytest.mark.req("AUD-2")
def test_an_older_copy_of_the_store_beside_the_kept_anchor_is_found(used_shop: Shop) -> None:
    store = used_shop.folder / "state" / "ringfence.db"
    older = store.read_bytes()
    used_shop.typed("call", "ana", "greet", '{"name": "Grace"}')
    for leftover in store.parent.glob("ringfence.db-*"):
        leftover.unlink()
    store.write_bytes(older)
    came = used_shop.typed("audit", "verify", "--json")
    assert came.code == 1
    assert any("rolled back" in problem for problem in came.document["problems"])


@pytest.mark.req("AUD-1")
def test_the_tail_shows_the_newest_events_oldest_first(used_shop: Shop) -> None:
    kinds = [
        json.loads(line)["kind"] for line in used_shop.typed("audit", "tail", "-n", "2", "--json").out.splitlines()
    ]
    assert kinds == ["tool_proposed", "policy_decision"]
    lines = used_shop.typed("audit", "tail").out.splitlines()
    assert any("tool_completed" in line and " ana greet read inv_" in line for line in lines)


@pytest.mark.req("AUD-2")
def test_the_export_is_one_event_a_line_with_all_that_its_hash_covers(used_shop: Shop) -> None:
    came = used_shop.typed("audit", "export", "--output", "trail.jsonl")
    assert came.code == 0
    file = used_shop.folder / "trail.jsonl"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    events = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(events) == used_shop.json("audit", "verify")["events"]
    assert {"writer", "seq", "previous", "hash", "body_digest", "body_text"} <= events[0].keys()
    assert file.read_text() == used_shop.typed("audit", "export").out


@pytest.mark.req("OPS-1")
def test_an_export_overwrites_nothing(used_shop: Shop) -> None:
    (used_shop.folder / "trail.jsonl").write_text("mine")
    came = used_shop.typed("audit", "export", "--output", "trail.jsonl")
    assert came.code == 2
    assert came.err.startswith("error[misuse]: `trail.jsonl` cannot be written: file exists\n")
    assert (used_shop.folder / "trail.jsonl").read_text() == "mine"


@pytest.mark.req("AUD-2")
def test_the_trail_can_be_proved_while_the_tools_are_broken(used_shop: Shop) -> None:
    (used_shop.folder / "tools.py").write_text("this is not Python")
    assert used_shop.typed("audit", "verify").code == 0
    assert used_shop.typed("approvals", "list").code == 0
    assert used_shop.typed("status").code == 2


def alter(shop: Shop, old: str, new: str) -> None:
    """Change events as somebody who holds the file could: the guards of the database are gone first."""
    with sqlite3.connect(shop.folder / "state" / "ringfence.db") as store:
        triggers = [name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")]
        for name in triggers:
            store.execute(f'DROP TRIGGER "{name}"')
        columns = [
            (table, column)
            for (table,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '%event%'")
            for _, column, kind, *_ in store.execute(f'PRAGMA table_info("{table}")')
            if kind == "TEXT" and column == "tool"
        ]
        assert columns
        for table, column in columns:
            store.execute(f'UPDATE "{table}" SET "{column}" = ? WHERE "{column}" = ?', (new, old))
    store.close()


@pytest.mark.req("SAN-2")
def test_an_operator_reads_what_a_tool_really_said_and_nobody_else_does(shop: Shop) -> None:
    done = shop.typed("call", "ana", "greet", '{"name": "Ada"}', "--json").document
    told = shop.typed("audit", "raw", done["invocation_id"], "--as", "bob", "--json")
    assert json.loads(told.document["reply"]) == done["output"]
    refused = shop.typed("audit", "raw", done["invocation_id"], "--as", "alice")
    assert (refused.code, "operator" in refused.err) == (4, True)
    assert "reply" in shop.typed("audit", "raw", done["invocation_id"], "--as", "bob").out
