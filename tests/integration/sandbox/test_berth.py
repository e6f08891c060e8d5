"""The descriptors that a spare is born with: settled in the child, let go of in the parent, whatever their numbers."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from ringfence.inside.berth import DESCRIPTOR, Berths
from ringfence.inside.wire import CHANNEL
from tests.descriptors import is_open

pytestmark = pytest.mark.req("SBX-2")


def ancillary(*descriptors: int) -> list[tuple[int, int, bytes]]:
    return [(socket.SOL_SOCKET, socket.SCM_RIGHTS, b"".join(map(DESCRIPTOR.pack, descriptors)))]


def test_a_child_enters_its_groups_and_has_its_channel_and_its_pipe_where_a_call_looks_for_them(tmp_path: Path) -> None:
    door = os.open(tmp_path / "door", os.O_WRONLY | os.O_CREAT)
    heard, said = os.pipe()
    read, printed = os.pipe()
    berth = Berths().of(ancillary(said, printed, door))
    child = os.fork()
    if child == 0:
        status = 1
        try:
            berth.settle.play()
            os.write(CHANNEL, b"a frame")
            os.write(1, b"out ")
            os.write(2, b"and error")
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert (os.read(heard, 99), os.read(read, 99)) == (b"a frame", b"out and error")
    assert (tmp_path / "door").read_bytes() == b"0"
    for descriptor in (door, heard, said, read, printed):
        os.close(descriptor)


def test_the_same_numbers_are_worked_out_once() -> None:
    berths = Berths()
    assert berths.of(ancillary(10, 11)) is berths.of(ancillary(10, 11))
    assert berths.of(ancillary(10, 12)) is not berths.of(ancillary(10, 11))


def test_numbers_that_are_never_the_same_are_not_all_kept() -> None:
    berths = Berths()
    for number in range(100):
        berths.of(ancillary(number, number + 1))
    assert len(berths._known) < 20  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize("left_between", [0, 1])
def test_whoever_bore_the_child_lets_go_of_its_descriptors_and_of_no_other(left_between: int) -> None:
    first = os.open(os.devnull, os.O_RDONLY)
    others = [os.dup(first) for _ in range(left_between)]
    second = os.dup(first)
    Berths().of(ancillary(first, second)).let_go()
    assert not is_open(first)
    assert not is_open(second)
    assert all(map(is_open, others))
    for descriptor in others:
        os.close(descriptor)


def test_a_request_without_descriptors_is_an_error() -> None:
    with pytest.raises(ValueError, match="unpack"):
        Berths().of([])
