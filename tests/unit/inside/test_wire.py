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
