"""What a jail handed out is heard only while something comes of it, and holds nobody: its maker may keep a copy."""

from __future__ import annotations

import asyncio
import socket
import threading
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ringfence.edge import mediate
from ringfence.edge.arrivals import Arrivals
from ringfence.edge.ends import SocketEnd
from ringfence.edge.ledger import Exhausted, Ledger
from ringfence.edge.ofcall import Dialled
from ringfence.edge.stub import Answers, StubResolver
from ringfence.edge.terms import Bounds
from ringfence.inside import mediation

pytestmark = pytest.mark.req("NET-1")


class Counting:
    """An event loop's readers, and how often each was called."""

    def __init__(self) -> None:
        self.calls = 0
        self.heard: set[int] = set()
        self._loop = asyncio.get_running_loop()

    def add_reader(self, fd: int, callback: object, /) -> None:
        self.heard.add(fd)
        self._loop.add_reader(fd, self._count, callback)

    def remove_reader(self, fd: int, /) -> None:
        self.heard.discard(fd)
        self._loop.remove_reader(fd)

    def _count(self, callback: object) -> None:
        self.calls += 1
        assert callable(callback)
        callback()


def refuse(made: socket.socket, dialled: Dialled) -> None:
    made.close()
    raise AssertionError(f"{dialled} arrived")


def taken_back(_: socket.socket, __: bool) -> None:
    return


async def pass_some_time(rounds: int = 400) -> None:
    for _ in range(rounds):
        await asyncio.sleep(0)


async def test_a_listener_that_its_maker_shut_down_is_heard_no_more() -> None:
    hearing = Counting()
    with socket.create_server(("127.0.0.1", 0)) as kept:
        arrivals = Arrivals([kept.dup().detach()], hearing=hearing, take_up=refuse)
        kept.shutdown(socket.SHUT_RDWR)
        await pass_some_time()
        assert (hearing.calls, hearing.heard) == (1, set())
        arrivals.close()


async def test_a_resolver_that_its_maker_shut_down_is_heard_no_more() -> None:
    hearing = Counting()
    with socket.socket(type=socket.SOCK_DGRAM) as kept:
        kept.bind(("127.0.0.1", 0))
        kept.connect(kept.getsockname())
        stub = StubResolver(kept.dup(), hearing=hearing, answers=cast(Answers, None))
        kept.shutdown(socket.SHUT_RDWR)
        await pass_some_time()
        assert (0 < hearing.calls <= 64, hearing.heard) == (True, set())
        stub.close()


async def test_a_listener_that_was_made_to_wait_holds_the_host_for_a_moment_at_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Between the host's word and its question, whoever keeps a copy takes that word back."""
    with socket.create_server(("127.0.0.1", 0)) as kept:
        mine, arrived = kept.dup().detach(), list[Dialled]()
        arrivals = Arrivals([mine], hearing=Counting(), take_up=lambda _, dialled: arrived.append(dialled))
        monkeypatch.setattr(socket.socket, "setblocking", taken_back)
        kept.settimeout(None)
        # Were it held, this would arrive.
        rescue = threading.Timer(5, socket.create_connection, [kept.getsockname()])
        rescue.start()
        arrivals._accept(mine)  # pyright: ignore[reportPrivateUsage]
        rescue.cancel()
        assert arrived == []
        monkeypatch.undo()
        arrivals.close()


async def test_a_connection_waits_as_long_as_any_other() -> None:
    arrived: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as kept:
        place = kept.getsockname()
        arrivals = Arrivals([kept.dup().detach()], hearing=Counting(), take_up=lambda made, _: arrived.append(made))
        with socket.create_connection(place):
            while not arrived:  # noqa: ASYNC110  the test's own list
                await asyncio.sleep(0)
            (made,) = arrived
            assert made.getsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, 16) == bytes(16)
            made.close()
        arrivals.close()


def test_a_call_has_the_edge_hold_so_many_bytes_at_once_and_no_more() -> None:
    ledger = Ledger(bounds=Bounds(bytes_held=10))
    with ledger.holding() as first:
        first(6)
        with pytest.raises(Exhausted, match="more than 10 bytes of bodies at once"), ledger.holding() as second:
            second(5)
        first(4)
    with ledger.holding() as again:
        again(10)


async def test_the_body_of_a_request_counts_among_what_is_held() -> None:
    ledger = Ledger(bounds=Bounds(bytes_held=10))
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    call: Any = SimpleNamespace(ledger=ledger)
    with ours, theirs:
        theirs.sendall(mediation.pack_head({}) + mediation.pack_piece(b"six of") + mediation.pack_piece(b"eleven"))
        theirs.shutdown(socket.SHUT_WR)
        await mediate.serve(SocketEnd(ours), call=call)
        told = theirs.recv(4096)
    assert b"more than 10 bytes of bodies at once" in told
    with ledger.holding() as again:
        again(10)
