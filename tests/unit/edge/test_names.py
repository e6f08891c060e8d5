"""Names: only listed ones have an address, and under a wildcard only a few short ones."""

from __future__ import annotations

import base64

import pytest

from ringfence.contract.capabilities import Network
from ringfence.edge import dns
from ringfence.edge.names import MOST_WILDCARD_NAMES, Names

pytestmark = pytest.mark.req("NET-6")


def _names(*hosts: str) -> Names:
    return Names(Network(*hosts).hosts)


def test_a_listed_name_gets_one_synthetic_address_in_every_spelling() -> None:
    names = _names("api.example.com")
    given = {names.ask(text).address for text in ("api.example.com", "API.example.com", "api.example.com.")}
    assert given == {"198.18.0.2"}
    assert names.name_at("198.18.0.2") == "api.example.com"


@pytest.mark.parametrize(
    "asked",
    [
        "evil.com", "api.example.com.evil.com", "evilapi.example.com", "example.com", "a.api.example.com",
        "api.example.com\\0.evil.com", "api.example.com evil.com", "127.0.0.1", "2130706433", "0x7f.1", "::1", "", ".",
        "localhost", "*", "*.example.com",
    ],
)  # fmt: skip
def test_an_unlisted_name_has_no_address(asked: str) -> None:
    assert _names("api.example.com").ask(asked).address is None


@pytest.mark.req("NET-4")
@pytest.mark.parametrize("asked", ["metadata.google.internal", "METADATA.google.internal."])
def test_a_wildcard_does_not_reach_a_name_of_the_metadata_service(asked: str) -> None:
    assert _names("*.google.internal", "metadata.google.internal").ask(asked).address is None


def test_under_a_wildcard_twenty_new_names_resolve_and_no_more() -> None:
    names = _names("*.example.com")
    given = [names.ask(f"n{i}.example.com").address for i in range(MOST_WILDCARD_NAMES + 5)]
    again = names.ask("n3.example.com").address
    assert [address is not None for address in given] == [True] * 20 + [False] * 5
    assert again == given[3]


def test_under_a_wildcard_labels_carry_at_most_63_bytes() -> None:
    names = _names("*.example.com")
    secret = base64.b32encode(b"k" * 60).decode().lower().rstrip("=")
    tunnel = f"{secret[:60]}.{secret[60:]}.example.com"
    assert names.ask(tunnel).address is None
    assert names.ask("a" * 63 + ".example.com").address is not None


def _query(name: bytes, *, kind: int = 1, flags: int = 0x0100, questions: int = 1) -> bytes:
    labels = b"".join(bytes([len(label)]) + label for label in name.split(b".") if label) + b"\0"
    return b"\x12\x34" + flags.to_bytes(2) + questions.to_bytes(2) + bytes(6) + labels + kind.to_bytes(2) + b"\0\1"


def test_an_answer_repeats_the_question_and_gives_the_address() -> None:
    question = dns.read_question(_query(b"api.example.com"))
    assert question is not None
    assert (question.name, question.kind) == ("api.example.com", dns.A)
    answer = dns.write_answer(question, address="198.18.0.2", code=dns.NOERROR)
    assert answer[:2] == b"\x12\x34"
    assert answer.endswith(bytes([198, 18, 0, 2]))
    assert answer[6:8] == b"\0\1"


def test_another_type_of_a_listed_name_is_answered_without_an_address() -> None:
    question = dns.read_question(_query(b"api.example.com", kind=28))
    assert question is not None
    assert dns.write_answer(question, address="198.18.0.2", code=dns.NOERROR)[6:8] == b"\0\0"


@pytest.mark.parametrize(
    "datagram",
    [
        b"",
        b"\0" * 11,
        _query(b"a.example", questions=2),
        _query(b"a.example", flags=0x8100),
        _query(b"a.example", flags=0x2800),
        _query(b"a.example")[:-3],
        b"\x12\x34\x01\0\0\1" + bytes(6) + b"\xc0\x0c\0\1\0\1",
        b"\x12\x34\x01\0\0\1" + bytes(6) + b"\x3fab",
        _query(b"")[:12] + b"\0\0\1\0\1",
        _query(b".".join([b"a" * 60] * 5)),
    ],
)
def test_what_is_not_one_plain_question_is_none(datagram: bytes) -> None:
    assert dns.read_question(datagram) is None


def test_a_dot_inside_a_label_does_not_make_another_name() -> None:
    raw = b"\x12\x34\x01\0\0\1" + bytes(6) + b"\x0fapi.example.com\0\0\1\0\1"
    question = dns.read_question(raw)
    assert question is not None
    assert _names("api.example.com").ask(question.name).address is None
