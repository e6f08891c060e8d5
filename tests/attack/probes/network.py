"""Tries to find any way out: every family of sockets, every way to name the host, every descriptor that is one already.

Takes: where the canaries listen.  Gives: an `Attempt`.  Never: dials anything but the loopback of this machine.
"""

from __future__ import annotations

import errno
import http.client
import os
import socket
import struct
import urllib.error
import urllib.request
from functools import partial

from ringfence import tool

from .attempt import Attempt, Canaries, attempt, attempts, system_call  # noqa: TID252  imported as `probes.network`

_SECONDS = 0.5
_NEW_NETWORK = 0x4000_0000
_UNSHARE, _SETNS = 272, 308
_FASTOPEN = 0x2000_0000


def _dial(host: str, port: int) -> str:
    with socket.create_connection((host, port), timeout=_SECONDS):
        return "connected"


def _made(family: int, kind: int, protocol: int = 0) -> None:
    socket.socket(family, kind, protocol).close()


@tool(safety="read")
def line_031_dial_the_host(canaries: Canaries) -> Attempt:
    """Connect to a listener of the host by every name of loopback."""
    names = ("127.0.0.1", "0.0.0.0", "::ffff:127.0.0.1", "localhost")
    return attempts({name: partial(_dial, name, canaries.tcp_port) for name in names})


@tool(safety="read")
def line_034_spell_the_host(canaries: Canaries) -> Attempt:
    """Connect to loopback by spellings that a check of names would miss."""
    names = ("2130706433", "0177.0.0.1", "0x7f.1", "127.1")
    return attempts({name: partial(_dial, name, canaries.tcp_port) for name in names})


@tool(safety="read")
def line_046_send_without_connecting(canaries: Canaries) -> Attempt:
    """Send one datagram, as QUIC would, and one fast-open stream."""

    def datagram() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(b"out", ("127.0.0.1", canaries.udp_port))

    def fast_open() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as sender:
            sender.sendto(b"out", _FASTOPEN, ("127.0.0.1", canaries.tcp_port))

    return attempts({"datagram": datagram, "fast_open": fast_open})


@tool(safety="read")
def line_047_ask_a_resolver(canaries: Canaries) -> Attempt:
    """Carry a secret out in a DNS question, by a datagram and by a stream."""
    question = struct.pack("!6H", 7, 0x100, 1, 0, 0, 0) + b"\x06secret\x04evil\x07invalid\0" + struct.pack("!2H", 1, 1)

    def ask(kind: socket.SocketKind, port: int) -> None:
        with socket.socket(socket.AF_INET, kind) as sender:
            sender.settimeout(_SECONDS)
            sender.connect(("127.0.0.1", port))
            sender.sendall(question)

    return attempts(
        {
            "udp": lambda: ask(socket.SOCK_DGRAM, canaries.udp_port),
            "tcp": lambda: ask(socket.SOCK_STREAM, canaries.tcp_port),
        }
    )


@tool(safety="read")
def line_048_raw_and_packet_sockets(canaries: Canaries) -> Attempt:
    """Make sockets that write their own headers."""
    return attempts(
        {
            "icmp": lambda: _made(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP),
            "raw": lambda: _made(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW),
            "packet": lambda: _made(socket.AF_PACKET, socket.SOCK_RAW, 0x0300),
        }
    )


@tool(safety="read")
def line_049_netlink(canaries: Canaries) -> Attempt:
    """Ask the kernel for its routes, its sockets and its audit log."""

    def routes() -> str:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as kernel:
            kernel.send(struct.pack("IHHIIB3x", 20, 26, 0x301, 1, 0, socket.AF_INET))
            return f"{len(kernel.recv(65_536))} bytes"

    return attempts({"route": routes, "sock_diag": lambda: _made(socket.AF_NETLINK, socket.SOCK_RAW, 4)})


@tool(safety="read")
def line_050_vsock(canaries: Canaries) -> Attempt:
    """Make a socket towards the hypervisor."""
    return attempt(lambda: _made(socket.AF_VSOCK, socket.SOCK_STREAM))


@tool(safety="read")
def line_051_every_family(canaries: Canaries) -> Attempt:
    """Make a socket of each family and type that there is, rare ones too."""
    made: list[str] = []
    answers: set[str] = set()
    for family in range(1, 64):
        for kind in range(1, 7):
            try:
                _made(family, kind)
                made.append(f"{family}/{kind}")
            except OSError as refused:
                answers.add(errno.errorcode[refused.errno or 0])
    if made:
        return Attempt(outcome="succeeded", detail=f"made {' '.join(made)}")
    return Attempt(outcome="stopped", detail=" ".join(sorted(answers)))


@tool(safety="read")
def line_052_abstract_socket(canaries: Canaries) -> Attempt:
    """Reach an abstract socket of the host: by connecting, and by a datagram from a pair that needs no `socket`."""
    name = "\0" + canaries.abstract_socket

    def connect() -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as talk:
            talk.connect(name)

    return attempts({"connect": connect, "datagram_pair": lambda: _send_from_a_pair(name)})


def _send_from_a_pair(name: str) -> None:
    """A datagram pair is connected, and can still be addressed elsewhere; refused by its peer is reached, too."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with ours, theirs:
        try:
            ours.sendto(b"out", name)
        except OSError as failure:
            if failure.errno not in (errno.EPROTOTYPE, errno.ECONNREFUSED):
                raise


@tool(safety="read")
def line_053_pathname_socket(canaries: Canaries) -> Attempt:
    """Connect to a socket file of the host, as to a container daemon."""

    def connect() -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as talk:
            talk.connect(canaries.unix_socket)

    return attempts(
        {"connect": connect, "datagram_pair": lambda: _send_from_a_pair(canaries.unix_socket)},
    )


@tool(safety="read")
def line_054_ask_for_a_descriptor(canaries: Canaries) -> Attempt:
    """Find a friend outside who could hand over a descriptor."""

    def friend() -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as talk:
            talk.connect(canaries.unix_socket)
            socket.send_fds(talk, [b"yours for mine"], [0])

    return attempt(friend)


@tool(safety="read")
def line_055_listen(canaries: Canaries) -> Attempt:
    """Open a port for somebody outside."""

    def listen() -> str:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as door:
            door.bind(("127.0.0.1", 0))
            door.listen()
            return f"port {door.getsockname()[1]}"

    def listen_here() -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
            door.bind("door")
            door.listen()
        os.unlink("door")

    return attempts({"tcp": listen, "unix": listen_here})


@tool(safety="read")
def line_056_enter_the_hosts_network(canaries: Canaries) -> Attempt:
    """Enter the launcher's network namespace."""

    def enter() -> None:
        space = os.open(f"/proc/{canaries.launcher_pid}/ns/net", os.O_RDONLY)
        try:
            system_call(_SETNS, space, _NEW_NETWORK)
        finally:
            os.close(space)

    return attempt(enter)


@tool(safety="read")
def line_056_make_a_network(canaries: Canaries) -> Attempt:
    """Make a network namespace, in which the tool could do as it likes."""
    return attempt(lambda: system_call(_UNSHARE, _NEW_NETWORK))


@tool(safety="read")
def line_057_go_by_a_proxy(canaries: Canaries) -> Attempt:
    """Ask for a page through a proxy that the tool names itself."""
    proxy = urllib.request.ProxyHandler({"http": f"http://127.0.0.1:{canaries.tcp_port}"})
    opener = urllib.request.build_opener(proxy)

    def fetch() -> str:
        try:
            with opener.open("http://proxied.invalid/", timeout=_SECONDS):
                return "a page"
        except (http.client.HTTPException, TimeoutError) as reached:
            return type(reached).__name__
        except urllib.error.URLError as failure:
            raise failure.reason if isinstance(failure.reason, OSError) else failure from None

    return attempt(fetch)
