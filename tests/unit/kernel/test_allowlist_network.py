"""What the tables of a confined jail with a way out say, by the filter machine."""

from __future__ import annotations

import socket

import pytest

from ringfence.inside.confined import confined_filters
from ringfence.kernel import allowlist_confined, notify
from ringfence.kernel.allowlist_network import ASKED_FIRST, MAKING_ASKED
from ringfence.kernel.notify import ASK
from ringfence.kernel.seccomp import ALLOW, REFUSE, Action, compile_table
from ringfence.kernel.syscalls import NUMBERS
from tests.unit.kernel.filter_machine import run

pytestmark = pytest.mark.req("NET-1", "SBX-3")

FAST_OPEN = 0x2000_0000
SERVING = {version: compile_table(allowlist_confined.stage_b(version, ASKED_FIRST)) for version in (1, 7)}
MAKING = {
    version: compile_table(allowlist_confined.stage_a(version, (*ASKED_FIRST, *MAKING_ASKED))) for version in (1, 7)
}


def _said(name: str, *arguments: int, stage: str = "b", version: int = 7) -> Action:
    return run((SERVING if stage == "b" else MAKING)[version], NUMBERS[name], *arguments)


@pytest.mark.parametrize("version", [1, 7])
@pytest.mark.parametrize("stage", ["a", "b"])
def test_a_confined_jail_asks_before_every_connection(stage: str, version: int) -> None:
    assert _said("connect", 3, 0x1000, 16, stage=stage, version=version) == ASK


@pytest.mark.parametrize("stage", ["a", "b"])
def test_no_connection_of_a_confined_jail_begins_with_its_first_bytes(stage: str) -> None:
    told = {
        "sendto": _said("sendto", 3, 0x1000, 1, 0, 0, 0, stage=stage),
        "sendto, fast open": _said("sendto", 3, 0x1000, 1, FAST_OPEN, 0, 0, stage=stage),
        "sendto, addressed": _said("sendto", 3, 0x1000, 1, 0, 0x2000, 16, stage=stage),
        "sendmsg": _said("sendmsg", 3, 0x1000, 0, stage=stage),
        "sendmsg, fast open": _said("sendmsg", 3, 0x1000, FAST_OPEN, stage=stage),
        "sendmmsg": _said("sendmmsg", 3, 0x1000, 1, 0, stage=stage),
        "fast open by option": _said("setsockopt", 3, socket.IPPROTO_TCP, 30, 0x1000, 4, stage=stage),
    }
    assert {name for name, action in told.items() if action == ALLOW} == {"sendto", "sendmsg"}


@pytest.mark.parametrize("stage", ["a", "b"])
@pytest.mark.parametrize("name", ["bind", "listen", "accept", "accept4", "io_uring_setup", "pidfd_getfd"])
def test_nothing_of_a_confined_jail_listens(name: str, stage: str) -> None:
    assert _said(name, 3, 1, stage=stage) == REFUSE


@pytest.mark.parametrize(
    ("family", "kind", "protocol", "made"),
    [
        (socket.AF_INET, socket.SOCK_STREAM, 0, True),
        (socket.AF_INET6, socket.SOCK_STREAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK, socket.IPPROTO_TCP, True),
        (socket.AF_INET, socket.SOCK_DGRAM, 0, False),
        (socket.AF_INET, socket.SOCK_STREAM, 132, False),
        (socket.AF_INET, socket.SOCK_STREAM, 262, False),
        (socket.AF_UNIX, socket.SOCK_STREAM, 0, False),
        (socket.AF_NETLINK, socket.SOCK_RAW, 0, False),
    ],
)
def test_a_confined_jail_has_sockets_of_tcp_alone(family: int, kind: int, protocol: int, made: bool) -> None:
    assert (_said("socket", family, kind, protocol) == ALLOW) == made


def test_only_a_zygote_makes_filters_that_ask_and_nobody_inside_answers() -> None:
    flags = notify.NEW_LISTENER | notify.ONLY_DEATH_INTERRUPTS
    assert (_said("seccomp", 1, flags), _said("seccomp", 1, flags, stage="a")) == (REFUSE, ALLOW)
    answering = (0xC050_2100, 0xC018_2101, 0x4008_2102, 0x4018_2103, 0x4008_2104)
    assert {_said("ioctl", 3, command, stage=stage) for command in answering for stage in "ab"} == {REFUSE}


def test_without_the_need_there_is_no_socket_and_no_filter_that_asks() -> None:
    plain = compile_table(allowlist_confined.stage_a(7))
    calls = (("socket", 2, 1, 0), ("connect", 3, 0x1000, 16), ("seccomp", 1, notify.NEW_LISTENER))
    assert [run(plain, NUMBERS[name], *arguments) for name, *arguments in calls] == [REFUSE] * 3
    assert confined_filters(7) != confined_filters(7, clients=("network",))
