"""Lines 117 to 127 without a jail between: the host's own reader, fed hostile bytes in every cut, and any bytes at all.

The controls are here too: a careless reader takes these very bytes for a reply, or breaks on them.
"""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import socket
import struct
import subprocess
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ringfence.contract.values import NotPlain, parse_json
from ringfence.execution.execute import OUTPUT_DEPTH
from ringfence.inside.layout import Bounds
from ringfence.inside.wire import HEADER_BYTES, LAST, Kind, pack
from ringfence.sandbox.exchange import Exchange, Record
from ringfence.sandbox.reading import read
from tests.attack.channel_cases import CASES, Case
from tests.stand_in import spare_of

pytestmark = pytest.mark.req("SBX-1")

_BOUNDS = Bounds(
    cpu_seconds=5,
    memory_bytes=1 << 28,
    processes=64,
    scratch_bytes=1 << 26,
    scratch_inodes=4096,
    output_bytes=1 << 20,
    open_files=128,
)


async def _feed(theirs: socket.socket, raw: bytes, *, step: int) -> None:
    theirs.setblocking(False)
    for start in range(0, len(raw), step):
        try:
            await asyncio.get_running_loop().sock_sendall(theirs, raw[start : start + step])
        except ConnectionError:
            return
        await asyncio.sleep(0)


async def _heard(raw: bytes, *, pieces: int = 1, zygote: Literal["quick", "late"] = "quick") -> str:
    """The code that the host's own reader comes to, fed piece by piece; `replied` where it believes a reply."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    printed, printed_theirs = os.pipe()
    with subprocess.Popen(["sleep", "60"]) as stand_in:  # noqa: ASYNC220  it only lends its pid
        spare = spare_of(stand_in.pid, channel=ours, printed=printed)
        exchange = Exchange(spare, frames=b"", wall_seconds=30, most_output=_BOUNDS.output_bytes)
        await _feed(theirs, raw, step=max(1, -(-len(raw) // pieces)))
        if zygote == "quick":
            theirs.close()
        os.close(printed_theirs)
        stand_in.kill()
        exchange.ended(Record(status=0, cpu_seconds=0.0, peak_memory_bytes=0), used=None)
        reading = read(await exchange.over, bounds=_BOUNDS)
        theirs.close()
    if reading.fault is not None:
        return reading.fault.code
    assert reading.reply is not None
    try:
        parse_json(reading.reply, size=_BOUNDS.output_bytes, depth=OUTPUT_DEPTH)
    except NotPlain:
        return "protocol_error"
    return "replied"


_RAW_CASES = [case for case in CASES if case.code == "protocol_error" and case.then == "leave" and len(case.raw) < 4096]
_SAY_MORE_AFTER_THE_END = [case for case in _RAW_CASES if LAST in case.raw[HEADER_BYTES : -len(LAST)]]
_END_WHERE_THEY_END = [case for case in _RAW_CASES if case not in _SAY_MORE_AFTER_THE_END]


@pytest.mark.parametrize("case", _SAY_MORE_AFTER_THE_END, ids=lambda case: case.id)
async def test_what_comes_with_a_reply_after_its_end_spoils_it(case: Case) -> None:
    """Later than that, nobody is there to say it: whoever has said the end is ended."""
    assert await _heard(case.raw) == "protocol_error"


@pytest.mark.parametrize("case", _END_WHERE_THEY_END, ids=lambda case: case.id)
async def test_the_reader_refuses_the_same_bytes_in_one_piece_and_in_many(case: Case) -> None:
    assert {await _heard(case.raw), await _heard(case.raw, pieces=len(case.raw) or 1)} == {"protocol_error"}


async def test_the_reader_believes_one_whole_frame_however_it_is_cut() -> None:
    frame = pack(Kind.OUTPUT, b'{"result": "sound"}')
    assert {await _heard(frame, pieces=pieces) for pieces in range(1, len(frame))} == {"replied"}


async def test_a_zygote_that_is_late_to_close_its_copy_of_the_channel_costs_nobody_a_reply() -> None:
    assert await _heard(pack(Kind.OUTPUT, b'"sound"'), zygote="late") == "replied"


async def test_the_reader_believes_no_frame_that_lacks_its_end() -> None:
    frame = pack(Kind.OUTPUT, b'{"result": "sound"}')
    assert {await _heard(frame[:length]) for length in range(len(frame))} == {"protocol_error"}


@settings(max_examples=60, deadline=None)
@given(raw=st.one_of(st.binary(max_size=300), st.builds(pack, st.sampled_from(Kind), st.binary(max_size=300))))
def test_the_reader_comes_to_a_code_whatever_the_bytes(raw: bytes) -> None:
    known = {"protocol_error", "replied", "tool_error", "memory_limit", "disk_limit", "output_invalid"}
    assert asyncio.run(_heard(raw)) in known


def _careless(raw: bytes) -> Any:
    """Header, length, JSON: what a reader without suspicion does."""
    (length,) = struct.unpack_from("!I", raw, HEADER_BYTES - 4)
    return json.loads(raw[HEADER_BYTES : HEADER_BYTES + length])


@pytest.mark.parametrize("name", ["two replies", "a reply and a stray byte", "a reply and a bad end", "another magic"])
def test_a_careless_reader_believes_a_forged_reply(name: str) -> None:
    case = next(case for case in CASES if case.name == name)
    assert _careless(case.raw) == "forged"


@pytest.mark.parametrize(
    "name", ["not a number", "infinity", "a float that is infinite", "a lone surrogate", "a key twice"]
)
def test_a_careless_reader_takes_what_is_not_plain(name: str) -> None:
    case = next(case for case in CASES if case.name == name)
    assert _careless(case.raw) != "sound"


@pytest.mark.parametrize("name", ["a hundred thousand deep", "deep objects"])
def test_a_careless_reader_breaks_on_depth(name: str) -> None:
    case = next(case for case in CASES if case.name == name)
    with pytest.raises(RecursionError):
        _careless(case.raw)


def test_a_careless_reader_runs_a_pickle() -> None:
    case = next(case for case in CASES if case.name == "a pickle")
    assert pickle.loads(case.raw[HEADER_BYTES:]) == 0
