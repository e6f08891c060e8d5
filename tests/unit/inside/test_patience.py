"""A spare learns whether its job is there already, and touches nothing of it."""

from __future__ import annotations

import socket
import threading

import pytest

from ringfence.inside.patience import Moment

pytestmark = pytest.mark.req("SBX-2")


def test_a_job_that_is_there_ends_the_moment_and_stays_to_be_read() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.send(b"job")
        assert not Moment(theirs.fileno()).passes_in_silence()
        assert theirs.recv(8) == b"job"


def test_a_job_that_comes_in_the_moment_ends_it() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        late = threading.Timer(0.001, ours.send, (b"job",))
        late.start()
        outcomes = [Moment(theirs.fileno()).passes_in_silence() for _ in range(2)]
        late.join()
        assert outcomes[-1] is False


def test_silence_is_told_from_a_job() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert Moment(theirs.fileno()).passes_in_silence()


def test_a_host_that_is_gone_is_no_silence() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        ours.close()
        assert not Moment(theirs.fileno()).passes_in_silence()


def test_what_cannot_be_waited_for_is_no_silence() -> None:
    ours, theirs = socket.socketpair()
    ours.close()
    moment = Moment(theirs.fileno())
    theirs.close()
    assert not moment.passes_in_silence()
