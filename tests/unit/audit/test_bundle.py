"""A bundle proves itself against a key from outside, and against nothing else."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ringfence.audit.bundle import bundle_lines, verify_bundle
from ringfence.audit.chain import Head, Link, head_of, link
from ringfence.audit.checkpoint import Checkpoint, key_fingerprint, sign
from ringfence.audit.events import AuditEvent, event
from ringfence.audit.retention import Removal
from ringfence.audit.verify import Report
from ringfence.errors import Misuse

pytestmark = pytest.mark.req("AUD-2")

OURS, THEIRS = (Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32) for number in (1, 2))
KEY = key_fingerprint(OURS.public_key())
START = datetime(2030, 1, 1, tzinfo=UTC)


def noted(number: int) -> AuditEvent:
    body = {"code": "approval_void", "message": f"call {number}"}
    return event(
        "call_void", at=START + timedelta(days=number), body=body, tool="pay", safety="financial", invocation_id="inv"
    )


def chain(*events: AuditEvent, writer: str = "w1") -> list[Link]:
    links: list[Link] = []
    head = Head(writer=writer)
    for each in events:
        links.append(link(each, head=head))
        head = head_of(links[-1])
    return links


def checkpoint(links: list[Link], *, key: Ed25519PrivateKey = OURS) -> Checkpoint:
    return sign([head_of(links[-1])], through=len(links), after=None, at="now", key=key)


def bundled(links: list[Link], *, key: Ed25519PrivateKey = OURS, checkpoints: list[Checkpoint] | None = None) -> bytes:
    signed = [checkpoint(links, key=key)] if checkpoints is None else checkpoints
    return b"".join(bundle_lines(links, checkpoints=signed, at="now", key=key))


def proved(bundle: bytes, *, key: str = KEY) -> Report:
    return verify_bundle(io.BytesIO(bundle), key=key)


def resealed(bundle: bytes, edit: Callable[[list[dict[str, Any]]], None], *, key: Ed25519PrivateKey = THEIRS) -> bytes:
    """The bundle as a stranger would remake it: edited, and sealed with the stranger's key and our header."""
    documents = [json.loads(line) for line in bundle.splitlines()]
    edit(documents)
    text = b"".join(json.dumps(each).encode() + b"\n" for each in documents[:-1])
    seal = key.sign(f"ringfence-audit-bundle 1 {hashlib.sha256(text).hexdigest()}".encode()).hex()
    return text + json.dumps({"seal": seal}).encode() + b"\n"


TRAIL = chain(noted(1), noted(2), noted(3))


def test_a_whole_bundle_verifies_with_the_key_that_sealed_it() -> None:
    report = proved(bundled(TRAIL))
    assert (report.ok, report.events, report.checkpoints, report.key) == (True, 3, 1, KEY)


def test_a_bundle_sealed_anew_with_another_key_fails_against_the_key_from_outside() -> None:
    forged = bundled(TRAIL, key=THEIRS)
    assert not proved(forged).ok
    assert proved(forged, key=key_fingerprint(THEIRS.public_key())).ok


def test_a_seal_of_another_key_under_our_header_fails() -> None:
    report = proved(resealed(bundled(TRAIL), lambda _: None))
    assert report.problems == ("the bundle is not sealed by its key: it was altered, cut or put together from others",)


def test_checkpoints_of_another_key_fail_under_our_seal() -> None:
    report = proved(bundled(TRAIL, checkpoints=[checkpoint(TRAIL, key=THEIRS)]))
    assert any("is not signed by" in problem for problem in report.problems)


def test_every_byte_of_a_bundle_counts() -> None:
    whole = bundled(TRAIL)
    for place in range(0, len(whole), 7):
        changed = whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
        try:
            assert not proved(changed).ok, place
        except Misuse:
            assert place < whole.index(b"\n")


@pytest.mark.parametrize("cut", [1, 2, 3, 4])
def test_a_bundle_that_lost_lines_fails(cut: int) -> None:
    lines = bundled(TRAIL).splitlines(keepends=True)
    assert not proved(b"".join(lines[:-cut])).ok
    assert not proved(b"".join([*lines[: -cut - 1], lines[-1]])).ok


def test_a_bundle_with_something_behind_its_seal_fails() -> None:
    assert not proved(bundled(TRAIL) + b"{}\n").ok


def test_the_end_of_the_trail_cannot_be_left_out_under_a_true_seal() -> None:
    report = proved(bundled(TRAIL[:2], checkpoints=[checkpoint(TRAIL)]))
    assert any("the trail was cut" in problem for problem in report.problems)


def test_events_that_no_checkpoint_covers_are_a_problem() -> None:
    report = proved(bundled(TRAIL, checkpoints=[checkpoint(TRAIL[:2])]))
    assert report.problems == ("1 events stand after the last checkpoint of the bundle",)


@pytest.mark.parametrize(
    "text",
    [b"", b"\n", b"[]", b"{}", b"not json", b'{"format": "ringfence-audit-bundle", "version": 2}', b"[" * 99_999],
)
def test_what_is_no_bundle_is_refused_as_such(text: bytes) -> None:
    with pytest.raises(Misuse, match="no bundle"):
        proved(text)


@pytest.mark.parametrize(
    "said", [None, [], {"number": "1"}, {"number": 1, "statement": "{}", "signature": "zz"}, 7, "\ud800"]
)
@pytest.mark.parametrize("kind", ["checkpoint", "link"])
def test_values_that_no_trail_holds_are_problems_and_never_a_crash(kind: str, said: Any) -> None:
    def put(documents: list[dict[str, Any]]) -> None:
        documents.insert(1 if kind == "checkpoint" else 2, {kind: said})

    assert not proved(resealed(bundled(TRAIL), put, key=OURS)).ok


def test_a_checkpoint_with_heads_of_odd_kinds_is_a_problem_and_never_a_crash() -> None:
    statement = json.dumps(
        {"number": 1, "previous": "0" * 64, "key": KEY, "at": "", "through": 3, "heads": [[[], {}, 1]]}
    )
    odd = Checkpoint(number=1, statement=statement, signature=OURS.sign(statement.encode()).hex())
    assert not proved(bundled(TRAIL, checkpoints=[odd])).ok


REMOVED = Removal(before=START + timedelta(days=3), by="bob", at=START + timedelta(days=9)).event(removed=2)


def bare(links: list[Link], *places: int) -> list[Link]:
    return [replace(each, body=None) if place in places else each for place, each in enumerate(links)]


def test_bodies_that_an_operator_let_go_are_no_problem_elsewhere_either() -> None:
    assert proved(bundled(bare(chain(noted(1), noted(2), noted(3), REMOVED), 0, 1))).ok


@pytest.mark.parametrize("places", [(2,), (0, 2), (3,)])
def test_a_body_that_nobody_let_go_is_a_problem(places: tuple[int, ...]) -> None:
    report = proved(bundled(bare(chain(noted(1), noted(2), noted(3), REMOVED), *places)))
    assert any("no operator let it go" in problem for problem in report.problems)


def test_an_act_of_retention_never_covers_what_came_after_it() -> None:
    early = Removal(before=START + timedelta(days=99), by="bob", at=START).event(removed=1)
    assert not proved(bundled(bare(chain(noted(1), early), 0))).ok


def test_an_act_of_retention_covers_no_event_that_concerns_no_call() -> None:
    registered = event("security_event", at=START, body={"what": "x", "detail": None})
    assert not proved(bundled(bare(chain(registered, REMOVED), 0))).ok
