"""Bytes go from one socket to another in order and to the last, however slow the reader, and nothing stays behind."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from ringfence.edge.dial import dial
from ringfence.edge.ledger import Exhausted
from ringfence.edge.relay import Flow, Pipes, carry
from ringfence.edge.resolve import Closed

pytestmark = pytest.mark.req("NET-1")

LARGE = os.urandom(1 << 20) * 9


@dataclass(frozen=True, kw_only=True)
class Line:
    """Two connections, and a relay between their inner ends."""

    near: socket.socket
    source: socket.socket
    sink: socket.socket
    far: socket.socket


@pytest.fixture
def line() -> Iterator[Line]:
    with ExitStack() as stack, socket.create_server(("127.0.0.1", 0)) as listener:
        ends: list[socket.socket] = []
        for _ in range(2):
            ends.append(stack.enter_context(socket.create_connection(listener.getsockname())))
            ends.append(stack.enter_context(listener.accept()[0]))
        for end in ends:
            end.setblocking(False)
        yield Line(near=ends[0], source=ends[1], sink=ends[2], far=ends[3])


@pytest.fixture
def pipes() -> Iterator[Pipes]:
    made = Pipes()
    yield made
    made.close()


async def heard(end: socket.socket) -> bytes:
    """All that comes, not read before everybody else is stuck."""
    content = bytearray()
    while piece := await asyncio.get_running_loop().sock_recv(end, 50_000):
        content += piece
        await asyncio.sleep(0)
    return bytes(content)


@pytest.mark.parametrize("content", [b"", b"x", b"y" * 65_536, LARGE], ids=["none", "one", "a buffer", "many"])
async def test_every_byte_arrives_and_then_the_end(line: Line, pipes: Pipes, content: bytes) -> None:
    counted: list[int] = []
    carrying = asyncio.ensure_future(carry(line.source, line.sink, tally=counted.append, pipes=pipes))
    sending = asyncio.ensure_future(asyncio.get_running_loop().sock_sendall(line.near, content))
    sending.add_done_callback(lambda _: line.near.shutdown(socket.SHUT_WR))
    assert await heard(line.far) == content
    await asyncio.gather(carrying, sending)
    assert sum(counted) == len(content)


async def test_what_waits_to_be_sent_is_not_in_the_buffer_that_all_share(pipes: Pipes) -> None:
    with ExitStack() as stack:
        near, source, sink, far = map(stack.enter_context, (*socket.socketpair(), *socket.socketpair()))
        for end in (near, source, sink, far):
            end.setblocking(False)
        sink.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)
        near.send(b"a" * 50_000)
        near.shutdown(socket.SHUT_WR)
        flow = Flow(source, sink, tally=lambda _: None, pipes=pipes)
        pipes.buffer[:] = b"b" * len(pipes.buffer)
        assert await heard(far) == b"a" * 50_000
        await flow.over


async def test_a_bound_ends_a_flow_and_nothing_beyond_it_arrives(line: Line, pipes: Pipes) -> None:
    def refuse(_count: int) -> None:
        raise Exhausted("enough")

    line.near.send(b"hello")
    line.near.shutdown(socket.SHUT_WR)
    with pytest.raises(Exhausted, match="enough"):
        await carry(line.source, line.sink, tally=refuse, pipes=pipes)
    with pytest.raises(BlockingIOError):
        line.far.recv(1)


async def test_a_broken_connection_is_a_failure_and_not_an_end(line: Line, pipes: Pipes) -> None:
    line.near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    line.near.close()
    flow = Flow(line.source, line.sink, tally=lambda _: None, pipes=pipes)
    await flow.over
    assert isinstance(flow.failure, ConnectionResetError)
    with pytest.raises(BlockingIOError):
        line.far.recv(1)


async def test_a_flow_that_is_closed_moves_nothing_more_and_keeps_no_pipe(line: Line, pipes: Pipes) -> None:
    before = len(os.listdir("/proc/self/fd"))
    flow = Flow(line.source, line.sink, tally=lambda _: None, pipes=pipes)
    sending = asyncio.ensure_future(asyncio.get_running_loop().sock_sendall(line.near, LARGE))
    for _ in range(200):
        await asyncio.sleep(0)
    flow.close()
    sending.cancel()
    pipes.close()
    assert len(os.listdir("/proc/self/fd")) == before
    assert not flow.over.done()


async def test_a_flow_without_end_leaves_the_loop_to_others(line: Line, pipes: Pipes) -> None:
    turns = 0

    def endless(_count: int) -> None:
        """Whatever is taken is replaced at once, and thrown away behind."""
        nonlocal turns
        turns += 1
        if turns > 1000:
            raise Exhausted("the loop was kept")
        line.near.send(b"x")
        while True:
            try:
                line.far.recv(1 << 16)
            except BlockingIOError:
                return

    line.near.send(b"x")
    flow = Flow(line.source, line.sink, tally=endless, pipes=pipes)
    await asyncio.sleep(0)
    flow.close()
    assert (flow.failure, turns < 1000) == (None, True)


async def test_a_near_host_is_dialled_and_one_that_refuses_is_told_of() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        made = await dial(["127.0.0.1"], port)
        assert made.getpeername() == ("127.0.0.1", port)
        made.close()
    with pytest.raises(Closed, match="Connection refused"):
        await dial(["127.0.0.1"], port)


async def test_the_next_address_is_dialled_where_the_first_refuses() -> None:
    with socket.create_server(("127.0.0.2", 0)) as listener:
        made = await dial(["127.0.0.1", "127.0.0.2"], listener.getsockname()[1])
        assert made.getpeername()[0] == "127.0.0.2"
        made.close()
