"""Runs one function here under the filter of a call without a network of its own, and prints what it came to.

Started by `asking.py` with a socket; it hands out the listener of its filter, waits for the word, runs, and prints.
"""

from __future__ import annotations

import asyncio
import ctypes
import errno
import json
import os
import select
import socket
import struct
import sys
import threading
from collections.abc import Callable
from typing import Any

from ringfence.kernel import landlock, limits, notify, seccomp
from ringfence.kernel.allowlist_network import ASKED_FIRST
from ringfence.kernel.seccomp import ALLOW, Outcome
from ringfence.kernel.syscalls import NUMBERS, TABLE_END

_LIBC = ctypes.CDLL(None, use_errno=True)
_TALK = b"GET / HTTP/1.1\r\nHost: api.example.com\r\nConnection: close\r\n\r\n"


def inet(host: str, port: int) -> bytes:
    return struct.pack("=H", socket.AF_INET) + struct.pack("!H", port) + socket.inet_aton(host) + bytes(8)


def _word(answer: int) -> str:
    return "connected" if answer == 0 else errno.errorcode[ctypes.get_errno()]


def connect_raw(family: int, address: str, length: int | None = None) -> str:
    """Connect with these very bytes as the address."""
    raw = bytes.fromhex(address)
    with socket.socket(family, socket.SOCK_STREAM) as made:
        return _word(_LIBC.connect(made.fileno(), raw, len(raw) if length is None else length))


def connect_nowhere() -> list[str]:
    """With pointers that lead nowhere, and with descriptors that are no sockets."""
    with socket.socket() as made:
        pointers = [_word(_LIBC.connect(made.fileno(), ctypes.c_void_p(at), 16)) for at in (0, 8, (1 << 64) - 64)]
    place = inet("198.18.0.2", 80)
    return [*pointers, *(_word(_LIBC.connect(number, place, 16)) for number in (0, 999, -1))]


def connect_and_again(host: str, port: int, other: str, other_port: int) -> list[str]:
    """A socket that leads somewhere is dissolved, aimed elsewhere, and used all the same."""
    with socket.socket() as made:
        made.settimeout(5)
        told = [_word(_LIBC.connect(made.fileno(), inet(host, port), 16))]
        told.append(_word(_LIBC.connect(made.fileno(), struct.pack("H14x", socket.AF_UNSPEC), 16)))
        told.append(_word(_LIBC.connect(made.fileno(), inet(other, other_port), 16)))
        made.sendall(_TALK)
        return [*told, made.recv(100).decode().splitlines()[0]]


def flip_address(host: str, port: int, other: str, other_port: int, rounds: int) -> dict[str, int]:
    """One thread dials an address while another changes it underneath."""
    place = ctypes.create_string_buffer(inet(host, port), 16)
    both, over = (inet(host, port), inet(other, other_port)), threading.Event()

    def flip() -> None:
        while not over.is_set():
            for each in both:
                ctypes.memmove(place, each, 16)

    flipping = threading.Thread(target=flip)
    flipping.start()
    told: dict[str, int] = {}
    for _ in range(rounds):
        with socket.socket() as made:
            word = _word(_LIBC.connect(made.fileno(), place, 16))
            told[word] = told.get(word, 0) + 1
    over.set()
    flipping.join()
    return told


def flip_descriptor(host: str, port: int, rounds: int) -> list[str]:
    """One thread dials while another puts something else under the same number."""
    over, told = threading.Event(), set[str]()
    pipe = os.pipe()
    number = socket.socket().detach()

    def flip() -> None:
        while not over.is_set():
            os.dup2(pipe[0], number)
            with socket.socket() as fresh:
                os.dup2(fresh.fileno(), number)

    flipping = threading.Thread(target=flip)
    flipping.start()
    for _ in range(rounds):
        told.add(_word(_LIBC.connect(number, inet(host, port), 16)))
    over.set()
    flipping.join()
    return sorted(told)


def talk_in_a_thread(host: str, port: int) -> str:
    heard: list[str] = []

    def talk() -> None:
        with socket.create_connection((host, port), timeout=5) as made:
            made.sendall(_TALK)
            heard.append(made.recv(100).decode().splitlines()[0])

    talking = threading.Thread(target=talk)
    talking.start()
    talking.join()
    return heard[0]


def talk_by_event_loop(host: str, port: int) -> list[str]:
    """Watched before it leads anywhere, never blocking, and asked for its error: as event loops do it."""
    with socket.socket() as made, select.epoll() as watch:
        made.setblocking(False)
        watch.register(made, select.EPOLLOUT)
        result = made.connect_ex((host, port))
        (ready,) = watch.poll(5)
        told = [str(result), str(ready[1] & select.EPOLLOUT), str(made.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))]
        made.sendall(_TALK)
        watch.modify(made, select.EPOLLIN)
        watch.poll(5)
        return [*told, str(made.getblocking()), made.recv(100).decode().splitlines()[0]]


def talk_over_six(host: str, port: int) -> str:
    with socket.socket(socket.AF_INET6) as made:
        made.settimeout(5)
        made.connect((host, port))
        made.sendall(_TALK)
        return made.recv(100).decode().splitlines()[0]


def resolve(*names: str) -> list[str]:
    return [_resolved(name) for name in names]


def _resolved(name: str) -> str:
    try:
        return str(socket.getaddrinfo(name, 443, type=socket.SOCK_STREAM)[0][4][0])
    except OSError as failure:
        return type(failure).__name__


def ask_names(content: str, zeros: int = 0) -> str:
    """Bytes for the resolver, and what comes back."""
    with socket.create_connection(("127.0.0.1", 53), timeout=5) as made:
        made.sendall(bytes.fromhex(content) + bytes(zeros))
        made.shutdown(socket.SHUT_WR)
        return made.recv(4096).hex()


def dial_each(places: list[tuple[str, int]]) -> list[str]:
    return [connect_raw(socket.AF_INET, inet(host, port).hex()) for host, port in places]


def dial_until_refused(host: str, port: int, most: int) -> list[str]:
    told: list[str] = []
    while not told or (told[-1] == "connected" and len(told) < most):
        told.append(connect_raw(socket.AF_INET, inet(host, port).hex()))
    return [str(len(told)), told[-1]]


def from_a_child(host: str, port: int) -> str:
    """A process that this one started asks in its turn."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.write(writing, connect_raw(socket.AF_INET, inet(host, port).hex()).encode())
        os._exit(0)
    os.wait()
    return os.read(reading, 100).decode()


def hold_until_told(host: str, port: int) -> list[str]:
    """Connect, say so, wait until the edge has ended, and connect again."""
    first = connect_raw(socket.AF_INET, inet(host, port).hex())
    CONTROL[0].send(b"c")
    CONTROL[0].recv(1)
    return [first, connect_raw(socket.AF_INET, inet(host, port).hex())]


def many_at_once(host: str, port: int, count: int) -> int:
    """Many connections of an event loop, all open before the first is used."""

    async def one(gate: asyncio.Barrier) -> bool:
        reader, writer = await asyncio.open_connection(host, port)
        await gate.wait()
        writer.write(b"ping")
        heard = await reader.readexactly(4)
        writer.close()
        return heard == b"pong"

    async def everything() -> int:
        gate = asyncio.Barrier(count)
        return sum(await asyncio.gather(*(one(gate) for _ in range(count))))

    return asyncio.run(everything())


CONTROL: list[socket.socket] = []


def _filter() -> bytes:
    table: dict[int, Outcome] = dict.fromkeys(range(TABLE_END), ALLOW)
    connect = next(row for row in ASKED_FIRST if row.name == "connect")
    return seccomp.encode(seccomp.compile_table(table | {NUMBERS["connect"]: connect.outcome}))


def _restrict() -> None:
    """As in such a jail: no file says where names are asked, and Landlock refuses whatever is not asked about."""
    with landlock.Ruleset(version=min(landlock.version(), landlock.NEWEST_KNOWN_VERSION)) as rules:
        for path in {*sys.path, sys.base_prefix, "/usr", "/lib", "/lib64"}:
            if os.path.isdir(path):
                rules.allow(path, rights=landlock.READ)
        rules.restrict_self()


def main() -> None:
    CONTROL.append(socket.socket(fileno=int(sys.argv[1])))
    order: dict[str, Any] = json.loads(sys.argv[2])
    limits.set_no_new_privileges()
    _restrict()
    listener = notify.install(_filter())
    socket.send_fds(CONTROL[0], [b"w"], [listener])
    os.close(listener)
    CONTROL[0].recv(1)
    function: Callable[..., Any] = globals()[order["function"]]
    try:
        told = {"gave": function(*order["arguments"])}
    except Exception as failure:
        told = {"raised": f"{type(failure).__name__}: {failure}"}
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main()
