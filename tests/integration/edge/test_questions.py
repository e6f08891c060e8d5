"""The way out of a confined spare is taken only where it is the listener of its filter, and this host can answer."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Generator
from types import SimpleNamespace
from typing import cast

import pytest

from ringfence.errors import CallRefused
from ringfence.execution.edge import Asking
from ringfence.inside.layout import Layout
from ringfence.kernel import limits, notify, seccomp
from ringfence.kernel.seccomp import ALLOW, Outcome
from ringfence.kernel.syscalls import NUMBERS, TABLE_END
from ringfence.sandbox import questions
from ringfence.sandbox.outlet import Networks
from ringfence.sandbox.posture import Sighting, sight
from ringfence.sandbox.questions import Questions

pytestmark = pytest.mark.req("NET-1", "SBX-6")


@pytest.fixture(name="listener")
def of_a_child() -> Generator[tuple[int, Sighting]]:
    """The listener of a child's filter, and the child as it is seen."""
    table: dict[int, Outcome] = {**dict.fromkeys(range(TABLE_END), ALLOW), NUMBERS["connect"]: notify.ASK}
    encoded = seccomp.encode(seccomp.compile_table(table))
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        limits.set_no_new_privileges()
        socket.send_fds(theirs, [b"w"], [notify.install(encoded)])
        ours.close()
        theirs.recv(1)
        os._exit(0)
    theirs.close()
    _, (descriptor,), _, _ = socket.recv_fds(ours, 1, 1)
    yield descriptor, sight(child)
    ours.close()
    os.waitpid(child, 0)


def _is_closed(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError as failure:
        return failure.errno == errno.EBADF
    return False


def test_the_listener_of_a_filter_is_taken_and_belongs_to_one_process(listener: tuple[int, Sighting]) -> None:
    descriptor, seen = listener
    ways = Questions().admit([descriptor], seen=seen).take()
    assert isinstance(ways, Asking)
    assert (ways.listener, ways.belongs(seen.pid), ways.belongs(seen.pid + 1)) == (descriptor, True, False)
    os.close(descriptor)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_what_is_no_listener_of_a_filter_is_refused(listener: tuple[int, Sighting], count: int) -> None:
    descriptor, seen = listener
    os.close(descriptor)
    given = [os.open("/dev/null", os.O_RDONLY) for _ in range(count)]
    with pytest.raises(CallRefused) as refused:
        Questions().admit(given, seen=seen)
    assert (refused.value.code, all(map(_is_closed, given))) == ("posture_insufficient", True)


def test_a_host_that_may_not_look_at_its_jails_says_so(
    listener: tuple[int, Sighting], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused_by_the_kernel(_process: int, _number: int) -> int:
        raise PermissionError(errno.EPERM, "not permitted")

    monkeypatch.setattr(notify, "take_descriptor", refused_by_the_kernel)
    descriptor, seen = listener
    with pytest.raises(CallRefused) as refused:
        Questions().admit([descriptor], seen=seen)
    assert (refused.value.code, "CAP_SYS_PTRACE" in (refused.value.remedy or "")) == ("not_enforceable", True)
    assert _is_closed(descriptor)


@pytest.mark.parametrize(
    ("posture", "ports", "kind"),
    [("full", (443,), Networks), ("full", (), Networks), ("confined", (), Networks), ("confined", (443,), Questions)],
)
def test_a_jail_leaves_by_its_posture(posture: str, ports: tuple[int, ...], kind: type) -> None:
    layout = cast("Layout", SimpleNamespace(posture=posture, ports=ports))
    assert isinstance(questions.networks_of(layout), kind)
