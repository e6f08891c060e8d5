"""A call that needs votes, from the first word to the last, with a process of its own for each."""

from __future__ import annotations

import json
import os
import pwd

import pytest

from tests.acceptance.cli.typed import Shop, typed, typed_at_terminal

LOGIN = pwd.getpwuid(os.getuid()).pw_name


@pytest.mark.req("APR-1")
def test_a_call_that_needs_a_vote_waits_and_says_how_to_go_on(shop: Shop) -> None:
    came = shop.typed("call", "ana", "refund", '{"order": "A-1001", "amount_cents": 900}')
    assert came.code == 3
    assert "waiting for 1 vote" in came.out
    for command in ("approvals show apr_", "approvals approve apr_", "calls resume inv_"):
        assert f"ringfence {command}" in came.out


@pytest.mark.req("APR-1", "APR-3")
def test_a_vote_and_the_resumption_come_from_other_processes_and_the_call_runs_once(shop: Shop) -> None:
    asked = shop.asked(900)
    assert shop.typed("calls", "resume", asked["invocation_id"]).code == 3
    assert shop.json("approvals", "approve", asked["approval_id"], "--as", "alice")["status"] == "approved"
    first = shop.typed("calls", "resume", asked["invocation_id"], "--json")
    again = shop.typed("calls", "resume", asked["invocation_id"], "--json")
    assert (first.code, first.document["output"]["amount_cents"]) == (0, 900)
    assert again.document["output"] == first.document["output"]
    events = [json.loads(line)["kind"] for line in shop.typed("audit", "export").out.splitlines()]
    assert events.count("tool_started") == 1


@pytest.mark.req("APR-2")
def test_the_card_shows_the_bytes_that_will_run_every_reason_and_who_may_vote(shop: Shop) -> None:
    asked = shop.asked(60_000)
    shown = shop.json("approvals", "show", asked["approval_id"])
    assert shown["card"]["arguments"] == '{"amount_cents":60000,"order":"A-1001"}'
    assert shown["may_vote"] == ["alice", "dan"]
    came = shop.typed("approvals", "show", asked["approval_id"])
    for part in ('{"amount_cents":60000,"order":"A-1001"}', shown["digest"], "alice, dan", "looked at by two people"):
        assert part in came.out


@pytest.mark.req("APR-2", "SAN-1")
def test_what_cannot_be_seen_in_the_arguments_is_spelled_out_on_the_card(new_shop: Shop) -> None:
    new_shop.edit(
        "tools.py", '@tool(safety="write", idempotency="optional")', '@tool(safety="financial", idempotency="required")'
    )
    assert new_shop.typed("check", "--accept", "--as", "bob").code == 0
    arguments = json.dumps({"customer": "A\u202eda[red]", "points": ["\x1b[2Jhello"]})
    asked = new_shop.typed("call", "ana", "draft_reply", arguments, "--json").document
    card = new_shop.typed("approvals", "show", asked["approval_id"]).out
    spelled = '{"customer":"A\\u{202e}da[red]","points":["\\u001b[2Jhello"]}'
    assert spelled in card
    assert spelled in new_shop.typed("approvals", "list").out
    assert new_shop.typed("approvals", "list", "--json").out.isascii()


@pytest.mark.req("APR-2")
def test_a_vote_for_another_digest_does_not_count(shop: Shop) -> None:
    asked = shop.asked(900)
    came = shop.typed("approvals", "approve", asked["approval_id"], "--as", "alice", "--digest", "sha256:" + "0" * 64)
    assert came.code == 4
    assert came.err.startswith("error[vote_refused]: the vote is for something else than what is asked\nremedy: ")
    digest = shop.json("approvals", "show", asked["approval_id"])["digest"]
    assert shop.typed("approvals", "approve", asked["approval_id"], "--as", "alice", "--digest", digest).code == 0


@pytest.mark.req("APR-2")
def test_a_call_whose_rules_became_stricter_after_the_vote_does_not_run(shop: Shop) -> None:
    asked = shop.asked(900)
    shop.typed("approvals", "approve", asked["approval_id"], "--as", "alice")
    shop.edit("ringfence.yaml", "{gt: 50000}", "{gt: 5}")
    shop.edit("ringfence.yaml", "amount_cents: 50000}", "amount_cents: 5}")
    came = shop.typed("calls", "resume", asked["invocation_id"], "--json")
    assert (came.code, came.document["code"]) == (4, "approval_void")


@pytest.mark.req("APR-2")
@pytest.mark.parametrize(("answer", "code", "status"), [("n", 4, "pending"), ("y", 0, "queued")])
def test_a_person_at_a_terminal_sees_the_card_and_is_asked(answer: str, code: int, status: str, shop: Shop) -> None:
    asked = shop.asked(900)
    came, screen = typed_at_terminal(
        "approvals", "approve", asked["approval_id"], "--as", "alice", cwd=shop.folder, answer=answer
    )
    assert came == code
    assert screen.index('{"amount_cents":900,"order":"A-1001"}') < screen.index("Approve exactly this?")
    assert shop.json("calls", "show", asked["invocation_id"])["status"] == status


@pytest.mark.req("APR-4")
@pytest.mark.parametrize(
    ("person", "why"),
    [
        ("carol", "`carol` proposed this call"),
        ("bob", "`bob` is not an approver"),
        ("nobody", "`nobody` is not an approver"),
    ],
)
def test_owner_operator_and_strangers_cannot_vote(person: str, why: str, shop: Shop) -> None:
    asked = shop.asked(900)
    came = shop.typed("approvals", "approve", asked["approval_id"], "--as", person)
    assert came.code == 4
    assert why in came.err
    assert shop.typed("calls", "resume", asked["invocation_id"]).code == 3


@pytest.mark.req("APR-4")
def test_whoever_typed_the_call_cannot_vote_on_it_whatever_the_environment_says(shop: Shop) -> None:
    shop.edit("ringfence.yaml", "people:\n", f"people:\n  {LOGIN}: {{roles: [approver], groups: [treasury]}}\n")
    pretending = dict.fromkeys(("LOGNAME", "USER", "LNAME", "USERNAME"), "alice")
    words = ("call", "ana", "refund", '{"order": "A-1001", "amount_cents": 900}', "--json")
    asked = typed(*words, cwd=shop.folder, **pretending).document
    came = typed("approvals", "approve", asked["approval_id"], cwd=shop.folder, **pretending)
    assert came.code == 4
    assert f"`{LOGIN}` proposed this call" in came.err
    assert LOGIN not in shop.json("approvals", "show", asked["approval_id"])["may_vote"]


@pytest.mark.req("APR-4")
def test_the_user_of_the_session_cannot_vote_on_its_calls(shop: Shop) -> None:
    asked = shop.asked(900, "--user", "alice")
    assert shop.typed("approvals", "approve", asked["approval_id"], "--as", "alice").code == 4
    assert shop.typed("approvals", "approve", asked["approval_id"], "--as", "dan").code == 0


@pytest.mark.req("APR-4")
def test_two_votes_come_from_two_people(shop: Shop) -> None:
    asked = shop.asked(60_000)
    assert asked["votes_needed"] == 2
    assert shop.json("approvals", "approve", asked["approval_id"], "--as", "alice")["status"] == "pending"
    again = shop.typed("approvals", "approve", asked["approval_id"], "--as", "alice")
    assert (again.code, "`alice` has voted already" in again.err) == (4, True)
    assert shop.json("approvals", "approve", asked["approval_id"], "--as", "dan")["status"] == "approved"
    assert shop.typed("calls", "resume", asked["invocation_id"]).code == 0


@pytest.mark.req("APR-5")
def test_a_rejection_needs_a_reason(shop: Shop) -> None:
    asked = shop.asked(900)
    assert shop.typed("approvals", "reject", asked["approval_id"], "--as", "alice").code == 2
    assert shop.typed("approvals", "reject", asked["approval_id"], "--as", "alice", "--reason", " ").code == 4


@pytest.mark.req("APR-5")
def test_a_rejected_call_is_refused_with_the_reason_and_again_in_the_same_session(shop: Shop) -> None:
    asked = shop.asked(900, "--session", "ses_monday")
    reason = "no [red]receipt[/red]\x1b[31m"
    rejected = shop.typed("approvals", "reject", asked["approval_id"], "--as", "dan", "--reason", reason)
    assert rejected.code == 0
    came = shop.typed("calls", "resume", asked["invocation_id"])
    assert came.code == 4
    assert came.out.startswith("refused [approval_rejected] a person rejected this call: no [red]receipt[/red]")
    assert "\x1b" not in came.out
    words = ("call", "ana", "refund", '{"order": "A-1001", "amount_cents": 900}', "--session", "ses_monday", "--json")
    again = shop.typed(*words)
    assert (again.code, again.document["code"]) == (4, "approval_rejected")


@pytest.mark.req("APR-1", "OPS-1")
def test_the_list_shows_what_waits_and_then_nothing(shop: Shop) -> None:
    assert shop.typed("approvals", "list").out == "nothing waits for a vote\n"
    asked = shop.asked(900)
    listed = shop.typed("approvals", "list").out
    assert asked["approval_id"] in listed
    assert "0 of 1" in listed
    shop.typed("approvals", "approve", asked["approval_id"], "--as", "alice")
    assert shop.json("approvals", "list") == {"approvals": []}


@pytest.mark.req("OPS-1")
@pytest.mark.parametrize("verb", ["show", "approve"])
def test_a_request_that_does_not_wait_is_refused(verb: str, shop: Shop) -> None:
    came = shop.typed("approvals", verb, "apr_none")
    assert (came.code, came.err.splitlines()[0]) == (4, "error[vote_refused]: no request `apr_none` waits for a vote")


@pytest.mark.req("AUD-1")
def test_a_vote_is_on_record_with_the_door_it_came_through(shop: Shop) -> None:
    asked = shop.asked(900)
    shop.typed("approvals", "approve", asked["approval_id"], "--as", "alice", "--reason", "receipt seen")
    events = [json.loads(line) for line in shop.typed("audit", "export").out.splitlines()]
    [cast] = [event["body"] for event in events if event["kind"] == "vote_cast"]
    assert (cast["voter"], cast["vote"], cast["reason"], cast["door"]) == ("alice", "approve", "receipt seen", "cli")
