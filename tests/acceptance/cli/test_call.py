"""`ringfence call` makes one call and tells a script how it ended."""

from __future__ import annotations

import pytest

from tests.acceptance.cli.typed import Shop


@pytest.mark.req("OPS-1", "CON-1")
def test_an_allowed_call_runs_and_exits_with_zero(shop: Shop) -> None:
    came = shop.typed("call", "ana", "word_count", '{"text": "declared is enforced"}', "--json")
    assert (came.code, came.document["status"]) == (0, "completed")
    assert came.document["output"] == {"words": 3, "characters": 20}


@pytest.mark.req("OPS-1")
def test_the_outcome_for_people_shows_what_the_tool_said(shop: Shop) -> None:
    came = shop.typed("call", "ana", "greet", '{"name": "Ada"}')
    assert came.code == 0
    assert came.out.startswith("completed inv_")
    assert "Hello, Ada!" in came.out.splitlines()


@pytest.mark.req("OPS-1")
def test_a_dash_reads_the_arguments_from_standard_input(shop: Shop) -> None:
    came = shop.typed("call", "ana", "greet", "-", "--json", stdin='{"name": "Grace"}')
    assert came.document["output"] == "Hello, Grace!"


@pytest.mark.req("VIEW-2")
def test_a_hidden_tool_and_one_that_never_was_get_the_same_words(shop: Shop) -> None:
    hidden = shop.typed("call", "ana", "change_role", '{"person": "ana", "role": "lead"}', "--json")
    invented = shop.typed("call", "ana", "no_such_tool", "{}", "--json")
    assert (hidden.code, invented.code) == (4, 4)
    without_id = [{**came.document, "invocation_id": ""} for came in (hidden, invented)]
    assert without_id[0] == without_id[1]
    assert without_id[0]["code"] == "tool_not_found"


@pytest.mark.req("CON-3")
def test_arguments_that_do_not_fit_are_refused_before_anybody_is_asked(shop: Shop) -> None:
    came = shop.typed("call", "ana", "refund", '{"order": "A-1001", "amount_cents": -5}', "--json")
    assert (came.code, came.document["code"]) == (4, "input_invalid")
    assert shop.json("approvals", "list") == {"approvals": []}


@pytest.mark.req("CON-3", "OPS-1")
@pytest.mark.parametrize(
    "typed",
    [
        pytest.param('{"name": ', id="not JSON"),
        pytest.param('["Ada"]', id="not an object"),
        pytest.param('{"name": "a", "name": "b"}', id="a key twice"),
        pytest.param('{"name": NaN}', id="not a number"),
        pytest.param('{"name": 90071992547409930}', id="too large an integer"),
    ],
)
def test_arguments_that_are_not_one_plain_json_object_are_misuse(typed: str, shop: Shop) -> None:
    came = shop.typed("call", "ana", "greet", typed)
    assert (came.code, came.out) == (2, "")
    assert came.err.startswith("error[misuse]: the arguments ")


# A program has no way to ask for rows yet.
_REMEMBERS = """---
kind: tool
schema_version: 1
name: remembers
safety_class: read
input_schema:
  type: object
  properties: {by: {type: integer, minimum: 1, maximum: 9}}
  required: [by]
  additionalProperties: false
output_schema: {type: integer}
needs: {storage: [tool]}
entrypoint: run.sh
---
Remembers how often it was asked.
"""


@pytest.mark.req("SBX-7")
def test_a_tool_whose_needs_nothing_here_can_hold_is_refused_by_name(shop: Shop) -> None:
    folder = shop.folder / "remembers"
    folder.mkdir()
    (folder / "TOOL.md").write_text(_REMEMBERS, encoding="utf-8")
    (folder / "run.sh").write_text("#!/bin/sh\necho 1\n", encoding="utf-8")
    (folder / "run.sh").chmod(0o755)
    shop.edit("ringfence.yaml", "  path: [.]", "  path: [.]\n  folders: [remembers]")
    assert shop.typed("pins", "accept", "remembers", "--as", "bob").code == 0
    came = shop.typed("call", "ops", "remembers", '{"by": 1}', "--json")
    assert (came.code, came.document["code"]) == (4, "not_available")
    assert "remembers" in came.document["message"]


@pytest.mark.req("SBX-1")
def test_without_a_sandbox_nothing_runs(shop: Shop) -> None:
    shop.edit("ringfence.yaml", "kind: local", "kind: deny")
    came = shop.typed("call", "ana", "greet", '{"name": "Ada"}', "--json")
    assert came.code in (2, 4)
    assert "completed" not in came.out


@pytest.mark.req("CON-3")
def test_a_tool_that_raises_is_a_failed_call(shop: Shop) -> None:
    shop.edit("tools.py", 'return f"Hello, {name}!"', 'raise ValueError("\\x1b[31mno")')
    came = shop.typed("call", "ana", "greet", '{"name": "Ada"}')
    assert came.code == 5
    assert came.out.startswith("failed [tool_error] ")
    assert "\x1b" not in came.out


@pytest.mark.req("IDM-1")
def test_a_given_key_is_recorded_with_the_call(shop: Shop) -> None:
    first = shop.asked(900, "--key", "monday")
    second = shop.asked(900, "--key", "monday")
    third = shop.asked(900, "--key", "tuesday")
    keys = [shop.json("calls", "show", each["invocation_id"])["idempotency_key"] for each in (first, second, third)]
    assert keys[0] == keys[1] != keys[2]


@pytest.mark.req("OPS-1", "CON-10")
def test_a_recorded_call_can_be_shown(shop: Shop) -> None:
    made = shop.typed("call", "ana", "word_count", '{"text": "a b"}', "--json").document
    shown = shop.json("calls", "show", made["invocation_id"])
    assert (shown["status"], shown["tool"], shown["arguments"]) == ("completed", "word_count", '{"text":"a b"}')
    assert shown["fingerprint"] == shop.json("tools", "show", "word_count")["fingerprint"]
    assert made["invocation_id"] in shop.typed("calls", "show", made["invocation_id"]).out


@pytest.mark.req("OPS-1")
@pytest.mark.parametrize("verb", ["show", "resume"])
def test_a_call_that_is_not_on_record_is_misuse(verb: str, shop: Shop) -> None:
    came = shop.typed("calls", verb, "inv_none")
    assert came.code == 2
    assert came.err.startswith("error[misuse]: there is no call `inv_none` on record\nremedy: ")
