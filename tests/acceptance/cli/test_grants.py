"""Standing grants typed at the command line, each word a process of its own."""

from __future__ import annotations

import json

import pytest

from tests.acceptance.cli.typed import Shop, Typed

pytestmark = pytest.mark.req("APR-8", "OPS-1")

SMALL = '{"args.amount_cents": {"lte": 1000}}'


def give(shop: Shop, *more: str, person: str = "bob", tool: str = "refund") -> Typed:
    bounds = ("--uses", "2", "--expires", "8h", "--because", "the sale")
    return shop.typed("grants", "give", "ana", tool, *bounds, "--as", person, "--json", *more)


def refund(shop: Shop, cents: int) -> Typed:
    return shop.typed("call", "ana", "refund", json.dumps({"order": "A-1001", "amount_cents": cents}), "--json")


def test_a_grant_spares_votes_within_its_bounds_and_no_further(shop: Shop) -> None:
    given = give(shop, "--when", SMALL)
    assert (given.code, given.document["signed_by"], given.document["state"]) == (0, ["bob"], "open")
    assert refund(shop, 1001).code == 3
    assert [refund(shop, 900).code for _ in range(3)] == [0, 0, 3]
    (listed,) = shop.json("grants", "list", "--all")["grants"]
    assert (listed["uses"], listed["state"]) == (2, "used_up")
    assert shop.json("grants", "list")["grants"] == []
    kinds = [json.loads(line)["kind"] for line in shop.typed("audit", "export").out.splitlines()]
    assert (kinds.count("grant_given"), kinds.count("grant_used")) == (1, 2)
    assert shop.typed("audit", "verify").code == 0


def test_a_rule_is_answered_by_two_operators_who_name_it(shop: Shop) -> None:
    shop.edit("ringfence.yaml", "bob: {roles: [operator]}", "bob: {roles: [operator]}\n  olga: {roles: [operator]}")
    grant = give(shop, "--answers", "large-refunds").document
    assert refund(shop, 60_000).code == 3
    signed = shop.typed("grants", "sign", grant["id"], "--as", "olga", "--digest", grant["digest"], "--json")
    assert (signed.code, signed.document["signed_by"]) == (0, ["bob", "olga"])
    assert refund(shop, 60_000).code == 0


def test_a_revoked_grant_is_over_and_says_by_whom_and_why(shop: Shop) -> None:
    grant = give(shop).document
    assert shop.typed("grants", "revoke", grant["id"], "--as", "bob", "--because", "the sale is over").code == 0
    assert refund(shop, 900).code == 3
    assert "ended by bob" in shop.typed("grants", "list", "--all").out
    (listed,) = shop.json("grants", "list", "--all")["grants"]
    assert (listed["state"], listed["ended"]["by"], listed["ended"]["why"]) == ("ended", "bob", "the sale is over")
    assert shop.typed("grants", "list").out == "no standing grant is open\n"


def test_changed_code_ends_a_grant(shop: Shop) -> None:
    give(shop)
    shop.edit("tools.py", "Hello, {name}!", "Good day, {name}!")
    assert shop.typed("check").code in (0, 6)
    (listed,) = shop.json("grants", "list", "--all")["grants"]
    assert listed["ended"]["why"] == "code_changed"
    assert refund(shop, 900).code == 3


@pytest.mark.parametrize("person", ["alice", "carol", "nobody"])
def test_whoever_is_no_operator_gives_nothing(shop: Shop, person: str) -> None:
    came = give(shop, person=person)
    assert came.code == 4
    assert came.err.startswith(f"error[operator_required]: `{person}` does not have the role `operator`\nremedy: ")
    assert refund(shop, 900).code == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--when", '{"amount": {"lt": 5}}'), "does not name an argument"),
        (("--when", "[]"), "not a JSON object"),
        (("--answers", "small-refunds"), "names no reason"),
        (("--expires", "forever"), "no length of time"),
        (("--expires", "91d"), "lasts at most 90 days"),
        (("--uses", "0"), "1 to 10000 uses"),
    ],
)
def test_bounds_that_bind_nothing_are_refused(shop: Shop, words: tuple[str, str], said: str) -> None:
    came = give(shop, *words)
    assert (came.code, came.out) == (2, "")
    assert said in came.err


def test_explain_shows_the_grant_that_answers(shop: Shop) -> None:
    grant = give(shop).document
    words = ("explain", "ana", "refund", '{"order": "A-1001", "amount_cents": 900}')
    came = shop.typed(*words)
    assert came.out.startswith("allow for ana calling refund")
    assert "(answered by" in came.out
    assert [each.get("answered_by") for each in shop.json(*words)["reasons"]] == [grant["id"], None]
