"""System calls are made by name."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from ringfence.errors import RingfenceError
from ringfence.kernel.syscalls import NUMBERS, TABLE_END, call, require_known_machine

pytestmark = pytest.mark.req("SBX-3")


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("read", 0),
        ("ioctl", 16),
        ("clone", 56),
        ("execve", 59),
        ("prctl", 157),
        ("seccomp", 317),
        ("rseq", 334),
        ("pidfd_send_signal", 424),
        ("clone3", 435),
        ("landlock_restrict_self", 446),
        ("set_mempolicy_home_node", 450),
        ("mseal", 462),
        ("file_setattr", 469),
    ],
)
def test_a_name_has_its_x86_64_number(name: str, number: int) -> None:
    assert NUMBERS[name] == number


def test_no_two_names_share_a_number() -> None:
    assert len(set(NUMBERS.values())) == len(NUMBERS)
    assert max(NUMBERS.values()) + 1 == TABLE_END


def test_a_call_answers_what_the_kernel_answers() -> None:
    assert call("getpid") == os.getpid()


def test_a_failed_call_names_itself() -> None:
    with pytest.raises(OSError, match="close: Bad file descriptor") as failure:
        call("close", -1)
    assert failure.value.errno == errno.EBADF


def test_an_argument_keeps_its_upper_half(tmp_path: Path) -> None:
    beyond_32_bits = 1 << 40
    with (tmp_path / "file").open("wb") as file:
        assert call("lseek", file.fileno(), beyond_32_bits, os.SEEK_SET) == beyond_32_bits


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(KeyError):
        call("no_such_call")


def test_another_processor_is_refused_with_a_remedy() -> None:
    with pytest.raises(RingfenceError, match="`aarch64`") as refusal:
        require_known_machine("aarch64")
    assert refusal.value.code == "posture_insufficient"
    assert "x86_64" in refusal.value.remedy
