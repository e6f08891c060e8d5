"""A frame is taken whole or not at all, however its bytes arrive."""

from __future__ import annotations

import os
import struct
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.inside import wire

pytestmark = pytest.mark.req("SBX-2")


@given(body=st.binary(max_size=300), cuts=st.lists(st.integers(min_value=0, max_value=320), max_size=5))
def test_a_frame_comes_together_from_any_pieces(body: bytes, cuts: list[int]) -> None:
    frame = wire.pack(wire.Kind.OUTPUT, body)
    places = [0, *sorted(min(cut, len(frame)) for cut in cuts), len(frame)]
    reader = wire.FrameReader(most=300)
    for start, end in pairwise(places):
        reader.feed(frame[start:end])
    assert reader.frame() == (wire.Kind.OUTPUT, body)


@given(st.binary(max_size=64))
def test_arbitrary_bytes_are_a_frame_or_a_fault_or_unfinished(text: bytes) -> None:
    reader = wire.FrameReader(most=32)
    try:
        reader.feed(text)
    except wire.Malformed:
        return
    frame = reader.frame()
    assert frame is None or wire.pack(*frame) == text


@pytest.mark.parametrize(
    "header",
    [
        struct.pack("!2sBBI", b"XX", 1, 4, 0),
        struct.pack("!2sBBI", b"RF", 2, 4, 0),
        struct.pack("!2sBBI", b"RF", 1, 0, 0),
        struct.pack("!2sBBI", b"RF", 1, 200, 0),
        struct.pack("!2sBBI", b"RF", 1, 4, 101),
        struct.pack("!2sBBI", b"RF", 1, 4, 0xFFFF_FFFF),
    ],
)
def test_a_header_that_is_not_ours_is_refused_before_any_body(header: bytes) -> None:
    with pytest.raises(wire.Malformed):
        wire.FrameReader(most=100).feed(header)


def test_a_byte_after_the_frame_is_a_fault() -> None:
    reader = wire.FrameReader(most=100)
    reader.feed(wire.pack(wire.Kind.OUTPUT, b"1"))
    with pytest.raises(wire.Malformed, match="follow"):
        reader.feed(b"x")


@given(body=st.binary(max_size=300), cuts=st.lists(st.integers(min_value=0, max_value=330), max_size=5))
def test_a_reply_has_ended_with_the_last_byte_of_its_end_and_not_before(body: bytes, cuts: list[int]) -> None:
    told = wire.pack(wire.Kind.OUTPUT, body) + wire.LAST
    places = [0, *sorted(min(cut, len(told)) for cut in cuts), len(told)]
    reader = wire.ReplyReader(most=300)
    for start, end in pairwise(places):
        reader.feed(told[start:end])
        assert reader.ended is (end == len(told))
    assert reader.frame() == (wire.Kind.OUTPUT, body)


def test_a_reply_without_an_end_is_a_frame_that_has_not_ended() -> None:
    reader = wire.ReplyReader(most=100)
    reader.feed(wire.pack(wire.Kind.OUTPUT, b"1"))
    assert (reader.frame(), reader.ended) == ((wire.Kind.OUTPUT, b"1"), False)


@pytest.mark.parametrize("after", [wire.pack(wire.Kind.OUTPUT, b"1"), wire.pack(wire.Kind.END, b"1"), wire.LAST + b"x"])
def test_nothing_but_its_end_follows_a_reply(after: bytes) -> None:
    reader = wire.ReplyReader(most=100)
    reader.feed(wire.pack(wire.Kind.OUTPUT, b"1"))
    with pytest.raises(wire.Malformed, match="follow"):
        reader.feed(after)


@pytest.mark.parametrize(
    "kind", [kind for kind in wire.Kind if kind.name not in ("OUTPUT", "RESULT", "FAULT", "IMPORTED")]
)
def test_what_is_no_reply_is_refused_with_its_header(kind: wire.Kind) -> None:
    """Whoever sent it may wait for an answer, and has no end to say."""
    with pytest.raises(wire.Malformed, match=f"never a frame of kind {kind.name}"):
        wire.ReplyReader(most=100).feed(wire.pack(kind, b"12")[: wire.HEADER_BYTES])


def test_an_unfinished_frame_is_no_frame() -> None:
    reader = wire.FrameReader(most=100)
    reader.feed(wire.pack(wire.Kind.OUTPUT, b"123")[:-1])
    assert reader.frame() is None


def test_the_blocking_reader_tells_a_gone_writer() -> None:
    incoming, outgoing = os.pipe()
    os.write(outgoing, wire.pack(wire.Kind.JOB, b"{}") + b"RF")
    os.close(outgoing)
    assert wire.receive(incoming, most=10) == (wire.Kind.JOB, b"{}")
    with pytest.raises(EOFError):
        wire.receive(incoming, most=10)
    os.close(incoming)


@pytest.mark.parametrize("job", [0, 2, 470, 471, 472, 900], ids=lambda length: f"a job of {length}")
@pytest.mark.parametrize("length", [0, 10, 453, 460, 461, 9_000], ids=lambda length: f"arguments of {length}")
def test_two_frames_are_received_whether_or_not_they_come_in_one_piece(job: int, length: int) -> None:
    incoming, outgoing = os.pipe()
    first, second = (wire.Kind.JOB, b"j" * job), (wire.Kind.ARGUMENTS, b"x" * length)
    os.write(outgoing, wire.pack(*first) + wire.pack(*second))
    assert wire.receive_two(incoming, most=(1_000, 10_000)) == (first, second)
    os.close(outgoing)
    with pytest.raises(EOFError):
        wire.receive_two(incoming, most=(1_000, 10_000))
    os.close(incoming)


def test_what_is_not_taken_at_once_is_sent_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[bytes] = []

    def take_three(_descriptor: int, left: bytes | memoryview) -> int:
        sent.append(bytes(left[:3]))
        return len(sent[-1])

    monkeypatch.setattr(wire, "_write", take_three)
    wire.send(0, b"abcdefgh")
    assert sent == [b"abc", b"def", b"gh"]


@pytest.mark.parametrize(
    ("first", "second", "after"), [(b"1" * 11, b"2", b""), (b"1", b"2" * 11, b""), (b"1", b"2", b"x")],
    ids=["the first too long", "the second too long", "a byte after them"],
)  # fmt: skip
def test_two_frames_are_both_bounded_and_nothing_follows_them(first: bytes, second: bytes, after: bytes) -> None:
    incoming, outgoing = os.pipe()
    os.write(outgoing, wire.pack(wire.Kind.JOB, first) + wire.pack(wire.Kind.ARGUMENTS, second) + after)
    with pytest.raises(wire.Malformed):
        wire.receive_two(incoming, most=(10, 10))
    os.close(outgoing)
    os.close(incoming)


def asking(heard: list[bytes]) -> wire.AskingReader:
    return wire.AskingReader(most=100, most_asked=50, hear=heard.append)


@pytest.mark.req("STO-1")
@given(
    asked=st.lists(st.binary(max_size=50), max_size=4),
    body=st.binary(max_size=100),
    cuts=st.lists(st.integers(min_value=0, max_value=400), max_size=6),
)
def test_questions_are_handed_on_in_order_and_one_frame_is_left(
    asked: list[bytes], body: bytes, cuts: list[int]
) -> None:
    told = b"".join(wire.pack(wire.Kind.QUESTION, each) for each in asked) + wire.pack(wire.Kind.OUTPUT, body)
    heard: list[bytes] = []
    reader = asking(heard)
    places = [0, *sorted(min(cut, len(told)) for cut in cuts), len(told)]
    for start, end in pairwise(places):
        reader.feed(told[start:end])
    assert (heard, reader.frame()) == (asked, (wire.Kind.OUTPUT, body))


@pytest.mark.req("STO-1")
@pytest.mark.parametrize(
    ("told", "heard"),
    [
        (struct.pack("!2sBBI", b"RF", 1, 8, 51), 0),
        (struct.pack("!2sBBI", b"XX", 1, 8, 0), 0),
        (struct.pack("!2sBBI", b"RF", 2, 8, 0), 0),
        (wire.pack(wire.Kind.QUESTION, b"x") + b"XXXXXXXX", 1),
        (wire.pack(wire.Kind.OUTPUT, b"1") + wire.pack(wire.Kind.QUESTION, b"x"), 0),
        (wire.pack(wire.Kind.OUTPUT, b"1" * 101), 0),
    ],
)
def test_a_question_out_of_form_or_after_the_reply_is_a_fault(told: bytes, heard: int) -> None:
    said: list[bytes] = []
    with pytest.raises(wire.Malformed):
        asking(said).feed(told)
    assert len(said) == heard


@pytest.mark.req("STO-1")
def test_part_of_a_question_is_no_frame_yet() -> None:
    reader = asking([])
    reader.feed(wire.pack(wire.Kind.QUESTION, b"abc")[:-1])
    assert (reader.frame(), reader.started) == (None, False)
