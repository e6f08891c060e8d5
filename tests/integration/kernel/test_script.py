"""Calls that are written down once are made later as they were written, and an answer nobody foresaw ends the rest."""

from __future__ import annotations

import errno
import os
import re
import socket
from pathlib import Path

import pytest

from ringfence.kernel import limits
from ringfence.kernel.message import Message
from ringfence.kernel.script import written_down
from ringfence.kernel.syscalls import call, open_here

pytestmark = [pytest.mark.req("SBX-2"), pytest.mark.req("SBX-3")]


def test_nothing_is_done_while_it_is_written_down(tmp_path: Path) -> None:
    with written_down(open_below=3) as script:
        call("mkdir", os.fsencode(tmp_path / "made"), 0o755)
    assert not (tmp_path / "made").exists()
    script.play()
    assert (tmp_path / "made").is_dir()


def test_a_failed_call_is_named_and_nothing_after_it_is_made(tmp_path: Path) -> None:
    with written_down(open_below=3) as script:
        call("mkdir", os.fsencode(tmp_path), 0o755)
        call("mkdir", os.fsencode(tmp_path / "made"), 0o755)
    with pytest.raises(OSError, match=re.escape(f"mkdir: {os.strerror(errno.EEXIST)}")) as refused:
        script.play()
    assert (refused.value.errno, list(tmp_path.iterdir())) == (errno.EEXIST, [])


def test_an_answer_that_was_not_foreseen_is_a_failure_even_where_the_kernel_saw_none(tmp_path: Path) -> None:
    """A descriptor of another number than the one that the next calls name would confine by something else."""
    with written_down(open_below=3) as script:
        open_here("/", flags=os.O_PATH | os.O_CLOEXEC)
        call("mkdir", os.fsencode(tmp_path / "made"), 0o755)
    in_the_way = [os.open("/", os.O_PATH | os.O_CLOEXEC) for _ in range(2)]
    try:
        with pytest.raises(OSError, match="openat") as refused:
            script.play()
    finally:
        for descriptor in in_the_way:
            os.close(descriptor)
    assert (refused.value.errno, list(tmp_path.iterdir())) == (errno.EPROTO, [])


def test_descriptors_are_foreseen_as_the_kernel_gives_them() -> None:
    with written_down(open_below=4):
        first, second = open_here("/", flags=0), open_here("/", flags=0)
        call("close", first)
        third = open_here("/", flags=0)
        limits.close_all_except((0, 1, 2, 3))
        fourth = open_here("/", flags=0)
    assert (first, second, third, fourth) == (4, 5, 4, 4)


@pytest.mark.parametrize("name", ["read", "getpid", "umount2"])
def test_a_call_whose_answer_nobody_has_foreseen_cannot_be_written_down(name: str) -> None:
    with written_down(open_below=3) as script, pytest.raises(ValueError, match=f"`{name}`"):
        call(name, 0, None, 0)
    assert script.steps == []


def test_a_message_with_descriptors_is_sent_as_it_was_written_down(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, (tmp_path / "file").open("wb") as file:
        with written_down(open_below=3) as script:
            call("sendmsg", theirs.fileno(), Message(b"word", descriptors=(file.fileno(), ours.fileno())), 0)
        script.play()
        said, descriptors, _, _ = socket.recv_fds(ours, 100, 2)
        found = [os.path.sameopenfile(*pair) for pair in zip(descriptors, (file.fileno(), ours.fileno()), strict=True)]
        for descriptor in descriptors:
            os.close(descriptor)
    assert (said, found) == (b"word", [True, True])


@pytest.mark.parametrize("sent", [b"wor", b"words"])
def test_a_message_of_another_length_than_the_awaited_one_is_a_failure(sent: bytes) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        with written_down(open_below=3) as script:
            call("recvfrom", ours.fileno(), bytes(4), 4, socket.MSG_TRUNC, None, None)
        theirs.send(b"word")
        script.play()
        theirs.send(sent)
        with pytest.raises(OSError, match="recvfrom") as refused:
            script.play()
    assert refused.value.errno == errno.EPROTO


def test_calls_are_made_again_once_the_writing_is_over(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), written_down(open_below=3):
        raise RuntimeError
    call("mkdir", os.fsencode(tmp_path / "made"), 0o755)
    assert (tmp_path / "made").is_dir()
