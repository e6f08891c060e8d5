"""The kernel's words about a process are read strictly."""

from __future__ import annotations

import pytest

from ringfence.kernel.status import ProcessStatus, parse_status

pytestmark = pytest.mark.req("SBX-6")

TEXT = b"""Name:\tcat\\nSeccomp:\\t2
PPid:\t7
Uid:\t1000\t1001\t1002\t1003
Gid:\t5\t5\t5\t5
NSpid:\t811\t3\t1
Threads:\t2
CapInh:\t0000000000000001
CapPrm:\t0000000000000002
CapEff:\t0000000000000004
CapBnd:\t000001ffffffffff
CapAmb:\t0000000000000000
NoNewPrivs:\t1
Seccomp:\t2
Seccomp_filters:\t3
"""


def test_every_field_is_read() -> None:
    assert parse_status(TEXT) == ProcessStatus(
        seccomp_mode=2,
        seccomp_filters=3,
        no_new_privileges=1,
        effective=4,
        permitted=2,
        inheritable=1,
        bounding=0x1FF_FFFF_FFFF,
        ambient=0,
        pids=(811, 3, 1),
        uids=(1000, 1001, 1002, 1003),
        gids=(5, 5, 5, 5),
        parent=7,
        threads=2,
    )


@pytest.mark.parametrize("name", [b"Seccomp_filters", b"NoNewPrivs", b"CapEff", b"NSpid"])
def test_a_field_that_is_absent_is_an_error_and_not_a_zero(name: bytes) -> None:
    without = b"\n".join(line for line in TEXT.splitlines() if not line.startswith(name + b":"))
    with pytest.raises(KeyError):
        parse_status(without)


def test_a_later_line_cannot_overrule_the_first() -> None:
    assert parse_status(TEXT + b"Seccomp:\t0\n").seccomp_mode == 2
