"""The store's schema, its roles, and calls on record, as a person meets them."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from ringfence.store.queries import migrations
from tests.acceptance.cli.typed import Shop, typed
from tests.cluster import LOGINS, Cluster, running_cluster

GREET = ("greet", '{"name": "Ada"}')


@pytest.fixture(scope="module")
def bare() -> Generator[Cluster, None, None]:
    """A server on which nobody has heard of Ringfence."""
    with running_cluster(furnished="no") as cluster:
        yield cluster


@pytest.mark.req("OPS-1", "DB-1")
def test_a_file_shows_its_schema_and_is_brought_forward(new_shop: Shop) -> None:
    before = new_shop.typed("db", "status", "--json")
    assert (before.code, before.document["version"], before.document["current"]) == (1, 0, False)
    made = new_shop.typed("db", "migrate", "--json")
    assert (made.code, made.document["version"]) == (0, len(migrations("sqlite")))
    assert new_shop.typed("db", "status").code == 0


@pytest.mark.req("OPS-1", "DB-1", "DB-3", "SCL-1")
def test_a_project_on_a_server_from_nothing_to_a_call(bare: Cluster, tmp_path: Path) -> None:
    bare.execute("CREATE DATABASE shop")
    person, owner = bare.url("shop", user="person"), bare.url("shop", user="mover")
    made = typed("init", "shop", "--store", person, cwd=tmp_path)
    assert (made.code, "db role-sql" in made.out) == (0, True)
    shop = Shop(folder=tmp_path / "shop")
    roles = shop.typed("db", "role-sql")
    assert roles.code == 0
    bare.execute(roles.out, database="shop")
    for login, granted in LOGINS.items():
        bare.execute(f"CREATE ROLE {login} LOGIN; GRANT {', '.join(granted)} TO {login}")
    early = shop.typed("status")
    assert (early.code, "ringfence db migrate" in early.err) == (2, True)
    assert shop.typed("db", "migrate", "--url", owner).code == 0
    assert shop.typed("check", "--accept", "--as", "bob").code == 0
    greeted = shop.typed("call", "ana", *GREET, "--json")
    assert (greeted.code, greeted.document["status"]) == (0, "completed")
    listed = shop.typed("calls", "list", "--json").document["calls"]
    assert [(each["tool"], each["status"]) for each in listed] == [("greet", "completed")]
    assert shop.typed("audit", "verify").code == 0


@pytest.mark.req("OPS-1", "DB-3")
@pytest.mark.parametrize("url", ["mysql://x/y", "postgresql://a b/c", 'postgresql://x/"y', "sqlite:///x.db"])
def test_a_store_that_is_none_makes_no_project(tmp_path: Path, url: str) -> None:
    refused = typed("init", "shop", "--store", url, cwd=tmp_path)
    assert (refused.code, (tmp_path / "shop").exists()) == (2, False)


@pytest.mark.req("OPS-1", "IDM-3")
def test_calls_are_listed_taken_back_and_not_settled_without_a_doubt(shop: Shop) -> None:
    asked = shop.typed("call", "ana", "refund", '{"order": "A-1001", "amount_cents": 500}', "--json")
    assert asked.code == 3, asked
    id_ = asked.document["invocation_id"]
    (waiting,) = shop.typed("calls", "list", "--status", "pending", "--json").document["calls"]
    assert waiting["id"] == id_
    settled = shop.typed("calls", "settle", id_, "--to", "failed", "--because", "I looked", "--as", "bob")
    assert (settled.code, "not in doubt" in settled.err) == (2, True)
    assert shop.typed("calls", "cancel", id_, "--as", "alice").code != 0
    taken = shop.typed("calls", "cancel", id_, "--as", "bob", "--json")
    assert (taken.code, taken.document["status"]) == (0, "void")
    assert shop.typed("calls", "list", "--status", "nonsense").code == 2
    assert "refund" in shop.typed("calls", "list").out
