"""Pins, sightings and retention as the database holds them, whoever asks."""

from __future__ import annotations

import io
import sqlite3
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ringfence.audit.bundle import verify_bundle
from ringfence.audit.events import AuditEvent, event
from ringfence.audit.retention import Removal
from ringfence.errors import CallRefused
from ringfence.registry.registry import register
from ringfence.runtime.invocation import Voided
from ringfence.store import SqliteStore
from ringfence.store.queries import migrations, queries
from ringfence.testing.store_samples import (
    START,
    Clock,
    allowed,
    ask,
    by_votes,
    call,
    look,
    noted,
    offered,
    queue,
    refusal,
    send,
    status_of,
)
from tests.integration.store.raw import Place, refused

OTHER = replace(look, description="Look at two.")


def told(call_: Voided) -> AuditEvent:
    body = {"code": "approval_void", "message": "changed"}
    return event(
        "call_void", at=START, body=body, tool=call_.tool, safety=call_.safety, invocation_id=call_.invocation_id
    )


async def offer(store: SqliteStore, *contracts: Any, **how: Any) -> None:
    """Let the source be seen to offer these, with nobody vouching."""
    offers = [offered(contract, accepted_by=None, **how) for contract in contracts]
    await store.record_registrations(register(offers, ledger=await store.ledger()), events=[], tell=told)


@pytest.mark.req("REG-1")
async def test_the_version_moves_with_every_pin_and_sighting_and_with_nothing_else(store: SqliteStore) -> None:
    first = await store.ledger_version()
    await offer(store, look)
    same = await store.ledger_version()
    await store.append([noted("x")])
    assert same == await store.ledger_version() == first
    await offer(store, OTHER)
    assert await store.ledger_version() > first
    assert (await store.ledger()).version == await store.ledger_version()


@pytest.mark.req("REG-1", "DB-2")
async def test_a_contract_out_of_use_is_neither_started_nor_put_to_a_vote(store: SqliteStore, place: Place) -> None:
    await offer(store, OTHER)
    started = store.start(call("i"), warrant=allowed(call("i")), durability="full", events=[])
    assert await refusal(started, CallRefused) == "tool_not_found"
    assert await refusal(ask(store, call("j")), CallRefused) == "tool_not_found"
    await offer(store, look)
    await store.start(call("i"), warrant=allowed(call("i")), durability="full", events=[])


@pytest.mark.req("REG-1")
@pytest.mark.parametrize("how", ["contract", "code"])
async def test_what_waits_or_is_queued_is_void_when_contract_or_code_change(store: SqliteStore, how: str) -> None:
    await ask(store, call("pending", send))
    approval = await queue(store, call("queued", send))
    await ask(store, call("other"))
    if how == "contract":
        await offer(store, replace(send, description="Send two."))
    else:
        await offer(store, send, source_digest="sha256:two")
    assert [await status_of(store, id_) for id_ in ("pending", "queued", "other")] == ["void", "void", "pending"]
    late = store.start(call("queued", send), warrant=by_votes(approval), durability="full", events=[])
    assert await refusal(late, CallRefused) == "approval_void"


@pytest.mark.req("REG-1", "DB-2")
async def test_sightings_and_the_version_keep_their_rules(store: SqliteStore, place: Place) -> None:
    with place.raw() as raw:
        assert refused(raw, "INSERT INTO sightings VALUES ('s', 'look', 'sha256:none', 'd', '[]', 'offered', '2030')")
        assert refused(raw, "UPDATE ledger_version SET version = version - 1")
        assert refused(raw, "UPDATE ledger_version SET version = version")
        assert refused(raw, "DELETE FROM ledger_version")
        assert refused(raw, "INSERT OR REPLACE INTO ledger_version VALUES (1, 1)")


@pytest.mark.req("REG-1", "DB-2")
async def test_what_failed_the_gate_cannot_be_pinned_by_raw_sql(store: SqliteStore, place: Place) -> None:
    bad = replace(offered(replace(look, name="bad", description="x\u202e"), accepted_by=None), origin="foreign")
    registry = register([replace(bad, source="server:x")], ledger=await store.ledger())
    await store.record_registrations(registry, events=[])
    with place.raw() as raw:
        said = refused(raw, "UPDATE pins SET trust = 'pinned', accepted_by = 'bob' WHERE tool = 'bad'")
        assert "failed the gate" in said
    started = store.start(call("i", bad.tool), warrant=allowed(call("i", bad.tool)), durability="full", events=[])
    assert await refusal(started, CallRefused) == "tool_not_found"


def registered(trust: str = "pinned") -> AuditEvent:
    body = {
        "fingerprint": look.fingerprint,
        "description": look.description,
        "description_hash": look.description_hash,
        "source": "code",
        "source_digest": "sha256:code",
        "trust": trust,
        "accepted_by": "alice",
    }
    return event("tool_registered", at=START, body=body, tool="look", safety="read")


@pytest.mark.req("AUD-2", "REG-1")
@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE pins SET fingerprint = '{other}', accepted_by = 'bob' WHERE tool = 'look'",
        "UPDATE pins SET source_digest = 'sha256:other' WHERE tool = 'look'",
        "UPDATE pins SET trust = 'imported' WHERE tool = 'look'",
        "UPDATE pins SET retired_at = '2030' WHERE tool = 'look'",
        "INSERT INTO pins SELECT 'elsewhere', tool, fingerprint, source_digest, trust, 'bob', at, NULL FROM pins",
    ],
)
async def test_a_pin_that_was_edited_behind_the_stores_back_shows(place: Place, edit: str) -> None:
    store = place.open()
    registry = register([offered(look)], ledger=await store.ledger())
    await store.record_registrations(registry, events=[registered()])
    await offer(store, OTHER)
    assert (await store.verify()).ok
    with place.raw() as raw:
        raw.execute(edit.format(other=OTHER.fingerprint))
    report = await store.verify()
    await store.close()
    assert any("is not what the trail says was accepted" in problem for problem in report.problems)


def about_a_call(number: int) -> AuditEvent:
    body = {"code": "x", "message": "hunter2"}
    at = START + timedelta(days=number)
    return event("call_void", at=at, body=body, tool="look", safety="read", invocation_id=f"i{number}")


@pytest.mark.req("AUD-2", "DB-2")
async def test_no_body_goes_without_an_operators_row_and_none_younger_than_it_says(
    store: SqliteStore, place: Place, clock: Clock
) -> None:
    await store.append([about_a_call(number) for number in range(4)])
    clock.at = START + timedelta(days=9)
    with place.raw() as raw:
        assert "until an operator" in refused(raw, "UPDATE audit_events SET body = NULL")
    removed = await store.remove_bodies(Removal(before=START + timedelta(days=2), by="bob", at=clock()))
    assert removed == 2
    assert (await store.verify()).ok
    with place.raw() as raw:
        assert "until an operator" in refused(
            raw, "UPDATE audit_events SET body = NULL WHERE id = (SELECT max(id) FROM audit_events)"
        )
        refused(raw, "UPDATE audit_retentions SET before = '2099'")
        refused(raw, "DELETE FROM audit_retentions")
        refused(raw, "INSERT OR REPLACE INTO audit_retentions VALUES (1, '2030', 'eve', '2030')")
        refused(raw, "INSERT INTO audit_retentions VALUES (2, '2099', 'eve', '2030')")
        refused(raw, "INSERT INTO audit_retentions VALUES (2, '2029', '', '2030')")


@pytest.mark.req("AUD-2")
async def test_a_body_removed_by_a_forged_row_shows(store: SqliteStore, place: Place, clock: Clock) -> None:
    await store.append([about_a_call(number) for number in range(4)])
    with place.raw() as raw:
        raw.execute("INSERT INTO audit_retentions VALUES (1, '2099', 'eve', '2099')")
        raw.execute("UPDATE audit_events SET body = NULL WHERE id = (SELECT max(id) FROM audit_events)")
    report = await store.verify()
    assert any("no operator let it go" in problem for problem in report.problems)


@pytest.mark.req("AUD-2")
async def test_a_bundle_of_the_store_verifies_without_the_store(store: SqliteStore, place: Place) -> None:
    await store.append([about_a_call(number) for number in range(3)])
    lines: list[bytes] = []
    await store.bundle(lines.append)
    key = (await store.verify()).key
    report = verify_bundle(io.BytesIO(b"".join(lines)), key=key)
    assert report.ok, report.problems
    assert report.events == await store.position()


@pytest.mark.req("DB-1")
def test_a_store_of_the_first_schema_is_brought_forward_with_its_pins_in_force(place: Place) -> None:
    first = migrations("sqlite")[0]
    raw = sqlite3.connect(place.path, isolation_level=None)
    raw.execute(queries("sqlite")["create_versions"])
    raw.executescript(first.script)
    raw.execute(queries("sqlite")["insert_version"], (1, first.name, "2029"))
    document = '{"name": "look", "safety": "read", "egress": "none", "approval": "auto"}'
    raw.execute("INSERT INTO tools VALUES ('look', 'f', ?, 'read', 'none', 'auto', 'h', '2029')", (document,))
    raw.execute("INSERT INTO pins VALUES ('code', 'look', 'f', 'd', 'pinned', 'bob', '2029')")
    raw.close()
    store = place.open()
    store.database.close_now()
    with place.raw() as after:
        assert after.execute("SELECT * FROM contracts_in_force").fetchall() == [("look", "f")]
