"""Events fit their kind, links name the one before, and verification sees every change."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from ringfence.audit.chain import GENESIS, Head, Link, head_of, link
from ringfence.audit.checkpoint import Checkpoint, is_signed, read_line, read_statement, sign
from ringfence.audit.events import KINDS, AuditEvent, event
from ringfence.audit.verify import Report, verify_trail
from ringfence.errors import Misuse

NOW = datetime(2026, 3, 1, tzinfo=UTC)
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def chain(count: int = 5, writer: str = "w") -> list[Link]:
    head, links = Head(writer=writer), list[Link]()
    for number in range(count):
        body = {"what": "test", "detail": number}
        links.append(link(event("security_event", at=NOW, body=body), head=head))
        head = head_of(links[-1])
    return links


def signed(links: list[Link], *, after: Checkpoint | None = None) -> Checkpoint:
    return sign([head_of(links[-1])], through=len(links), after=after, at=NOW.isoformat(), key=KEY)


def verified(links: list[Link], checkpoints: list[Checkpoint], anchor: list[str] | None = None) -> Report:
    return verify_trail(links, checkpoints=checkpoints, anchor=anchor, key=KEY.public_key())


@pytest.mark.req("AUD-1")
@pytest.mark.parametrize("kind", KINDS)
def test_an_event_has_exactly_the_fields_of_its_kind_and_names_its_tool(kind: str) -> None:
    shape = KINDS[kind]
    body: dict[str, Any] = dict.fromkeys(shape.fields)
    tool = "t" if shape.concerns == "tool" else None
    assert event(kind, at=NOW, body=body, tool=tool).kind == kind
    for wrong in ({**body, "more": 1}, dict(list(body.items())[1:])):
        with pytest.raises(Misuse):
            event(kind, at=NOW, body=wrong, tool=tool)
    if tool:
        with pytest.raises(Misuse, match="name its tool"):
            event(kind, at=NOW, body=body)


@pytest.mark.req("AUD-1", "AUD-2")
@given(body=st.dictionaries(TEXT, TEXT | st.integers() | st.none() | st.lists(TEXT, max_size=3)), tool=TEXT)
def test_a_link_can_be_made_again_with_any_encoder_of_json(body: dict[str, Any], tool: str) -> None:
    made = link(AuditEvent("k", NOW, "a", tool, None, None, body), head=Head(writer="w", seq=6, hash="p"))
    assert made.body is not None
    assert json.loads(made.body) == body
    assert made.body_digest == hashlib.sha256(made.body.encode()).hexdigest()
    facts = [1, "w", 7, made.at, "k", "a", tool, None, None, made.body_digest, "p"]
    spelled = json.dumps(facts, ensure_ascii=False, separators=(",", ":"))
    assert made.hash == hashlib.sha256(spelled.encode()).hexdigest()


@pytest.mark.req("AUD-1", "AUD-2")
def test_a_whole_trail_verifies() -> None:
    links = chain()
    first = signed(links[:3])
    checkpoints = [first, signed(links, after=first)]
    report = verified(links, checkpoints, [each.line() for each in checkpoints])
    assert (report.ok, report.events, report.checkpoints, report.uncovered, report.anchored) == (True, 5, 2, 0, 2)
    assert verified(links, [first]).uncovered == 2


@pytest.mark.req("AUD-2")
@pytest.mark.parametrize(
    "change",
    [
        {"at": "2026-03-02"},
        {"kind": "tool_failed"},
        {"agent": "eve"},
        {"tool": "other"},
        {"safety": "read"},
        {"invocation_id": "inv_2"},
        {"body": "{}"},
        {"body": None},
        {"body_digest": "0" * 64},
        {"previous": GENESIS},
        {"hash": "0" * 64},
        {"seq": 9},
        {"writer": "x"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_any_changed_field_of_any_event_is_seen(change: dict[str, Any]) -> None:
    links = chain()
    for place in range(1, len(links)):
        changed = [replace(each, **change) if at == place else each for at, each in enumerate(links)]
        assert not verified(changed, []).ok or change.keys() == {"writer"}
        assert not verified(changed, [signed(links)]).ok


@pytest.mark.req("AUD-2")
def test_events_that_are_removed_doubled_or_cut_off_are_seen() -> None:
    links = chain()
    checkpoint = signed(links)
    for broken in (links[1:], links[:2] + links[3:], links[:3], [*links, links[-1]], []):
        assert not verified(broken, [checkpoint]).ok


@pytest.mark.req("AUD-2")
def test_an_older_copy_beside_a_kept_anchor_is_seen() -> None:
    links = chain()
    first = signed(links[:2])
    second = signed(links, after=first)
    anchor = [first.line(), second.line()]
    assert verified(links, [first, second], anchor).ok
    assert not verified(links[:2], [first], anchor).ok
    forged = sign([head_of(links[1])], through=2, after=first, at="other", key=KEY)
    assert not verified(links, [first, forged], anchor).ok
    assert not verified(links, [first, second], ["not a line", *anchor]).ok


@pytest.mark.req("AUD-2")
def test_a_checkpoint_of_another_key_or_with_another_statement_is_seen() -> None:
    links = chain()
    stranger = sign([head_of(links[-1])], through=5, after=None, at="x", key=Ed25519PrivateKey.generate())
    assert not verified(links, [stranger]).ok
    good = signed(links)
    for bad in (
        replace(good, statement=good.statement.replace("w", "v")),
        replace(good, number=2),
        replace(good, signature="zz"),
        replace(good, statement="{}"),
    ):
        assert not verified(links, [bad]).ok
    assert not is_signed(replace(good, signature=""), key=KEY.public_key())


@pytest.mark.req("AUD-2")
@pytest.mark.parametrize("line", ["", "{", "[]", "null", '{"number": 1}', '{"number":1,"statement":2}'])
def test_a_line_that_is_no_checkpoint_is_read_as_none(line: str) -> None:
    assert read_line(line) is None
    assert read_statement(Checkpoint(number=1, statement=line, signature="")) is None
