"""Programs as their libraries' documentation writes them: no proxy, no patched module, nothing left unverified."""

from __future__ import annotations

import asyncio
import smtplib
import socket
import ssl
import struct
import time
import urllib.request
from contextlib import suppress
from typing import Any


def _believing_everything() -> ssl.SSLContext:
    """For a client that lies about whom it wants; whom it gets is what the test looks at."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def with_urllib(url: str) -> str:
    return str(urllib.request.urlopen(url, timeout=10).read().decode())


def with_requests(url: str) -> str:
    import requests

    return str(requests.get(url, timeout=10).text)


def with_httpx(url: str) -> str:
    import httpx

    return httpx.get(url, timeout=10).text


def with_httpx_async(url: str) -> str:
    import httpx

    async def get() -> str:
        async with httpx.AsyncClient(timeout=10) as client:
            return (await client.get(url)).text

    return asyncio.run(get())


def with_httpx_http2(url: str) -> str:
    import httpx

    with httpx.Client(http2=True, timeout=10) as client:
        return client.get(url).text


def with_aiohttp(url: str) -> str:
    import aiohttp

    async def get() -> str:
        async with aiohttp.ClientSession() as session, session.get(url) as response:
            return await response.text()

    return asyncio.run(get())


def with_urllib3(url: str) -> str:
    import urllib3

    return str(urllib3.PoolManager().request("GET", url, timeout=10).data.decode())


def with_smtplib(host: str, port: int) -> str:
    with smtplib.SMTP(host, port, timeout=10) as server:
        server.starttls(context=ssl.create_default_context())
        server.ehlo()
        return str(server.noop()[0])


def with_psycopg(dsn: str) -> int:
    import psycopg

    with psycopg.connect(dsn, connect_timeout=10) as connection:
        row = connection.execute("select 6 * 7").fetchone()
        assert row is not None
        return int(row[0])


def post(url: str, body: str) -> str:
    import requests

    return str(requests.post(url, data=body, timeout=10).text)


def chunked_post(url: str) -> str:
    import requests

    return str(requests.post(url, data=iter([b"one", b"two"]), timeout=10).text)


def resolve(*names: str) -> list[str | None]:
    found: list[str | None] = []
    for name in names:
        try:
            found.append(socket.getaddrinfo(name, 443, type=socket.SOCK_STREAM)[0][4][0])  # type: ignore[arg-type]
        except OSError:
            found.append(None)
    return found


def talk(host: str, port: int, *pieces: str) -> str:
    """Send raw bytes, one piece after the other, and hear everything."""
    with socket.create_connection((host, port), timeout=5) as made:
        for piece in pieces:
            made.sendall(piece.encode("latin-1"))
        made.shutdown(socket.SHUT_WR)
        heard = b""
        while content := made.recv(65536):
            heard += content
        return heard.decode("latin-1")


def dial_all(places: list[tuple[str, int]]) -> list[str]:
    """What comes of dialling each place and asking for something."""
    outcomes: list[str] = []
    for host, port in places:
        try:
            outcomes.append("heard " + talk(host, port, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
        except OSError as failure:
            outcomes.append(type(failure).__name__)
    return outcomes


def tls_naming(host: str, port: int, name: str | None) -> str:
    """A TLS handshake that names somebody, whoever was dialled."""
    context = _believing_everything()
    with (
        socket.create_connection((host, port), timeout=5) as made,
        context.wrap_socket(made, server_hostname=name) as tls,
    ):
        tls.sendall(b"GET / HTTP/1.1\r\nHost: " + (name or "").encode() + b"\r\n\r\n")
        return tls.recv(100).decode()


def fronted(host: str, inner: str) -> str:
    """The right name outside, another one inside."""
    context = ssl.create_default_context()
    with (
        socket.create_connection((host, 443), timeout=5) as made,
        context.wrap_socket(made, server_hostname=host) as tls,
    ):
        tls.sendall(f"GET / HTTP/1.1\r\nHost: {inner}\r\n\r\n".encode())
        return tls.recv(100).decode()


def over_tls(host: str, *pieces: str) -> str:
    context = ssl.create_default_context()
    with (
        socket.create_connection((host, 443), timeout=5) as made,
        context.wrap_socket(made, server_hostname=host) as tls,
    ):
        for piece in pieces:
            tls.sendall(piece.encode("latin-1"))
        heard = b""
        made.settimeout(1)
        try:
            while content := tls.recv(65536):
                heard += content
        except TimeoutError:
            pass
        return heard.decode("latin-1")


def postgres_tls_naming(host: str, port: int, name: str) -> str:
    context = _believing_everything()
    with socket.create_connection((host, port), timeout=5) as made:
        made.sendall(struct.pack("!II", 8, 80877103))
        assert made.recv(1) == b"S"
        with context.wrap_socket(made, server_hostname=name) as tls:
            return str(tls.version())


def smtp_tls_naming(host: str, port: int, name: str) -> str:
    context = _believing_everything()
    with socket.create_connection((host, port), timeout=5) as made:
        made.recv(100)
        made.sendall(b"STARTTLS\r\n")
        made.recv(100)
        with context.wrap_socket(made, server_hostname=name) as tls:
            return str(tls.version())


def ask_a_resolver(address: str, name: str, protocol: str) -> str:
    """A question over the network, to whom the program likes."""
    question = b"\x12\x34\x01\0\0\1" + bytes(6) + b"".join(
        bytes([len(label)]) + label.encode() for label in name.split(".")
    ) + b"\0\0\1\0\1"  # fmt: skip
    kind = socket.SOCK_DGRAM if protocol == "udp" else socket.SOCK_STREAM
    with socket.socket(socket.AF_INET, kind) as made:
        made.settimeout(2)
        made.connect((address, 53))
        made.sendall(question if protocol == "udp" else struct.pack("!H", len(question)) + question)
        return made.recv(512).hex()


def hold_connections(host: str, port: int, count: int) -> int:
    """Many at once; how many still answer when all are open."""
    held: list[socket.socket] = []
    for _ in range(count):
        # One that is refused may be reset while it is made, or after.
        with suppress(ConnectionError):
            made = socket.create_connection((host, port), timeout=10)
            held.append(made)
            made.sendall(b"ping")
    answered = 0
    for made in held:
        try:
            answered += made.recv(4) == b"pong"
        except OSError:
            continue
    return answered


def unspecific_connect(host: str, port: int, other: str, other_port: int) -> list[str]:
    """Dissolve a connection and aim the same socket elsewhere, by connect and by fast open."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    outcomes: list[str] = []
    made = socket.create_connection((host, port), timeout=3)
    outcomes.append(f"dissolved {libc.connect(made.fileno(), struct.pack('H14x', 0), 16)}")
    for aim in (lambda: made.connect((other, other_port)), lambda: made.sendto(b"x", 0x20000000, (other, other_port))):
        try:
            aim()
            made.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            outcomes.append("heard " + made.recv(100).decode())
        except OSError as failure:
            outcomes.append(type(failure).__name__)
    return outcomes


def fetch_size(url: str) -> int:
    total = 0
    with urllib.request.urlopen(url, timeout=20) as response:
        while content := response.read(1 << 16):
            total += len(content)
    return total


def drip(host: str, port: int, seconds: float) -> str:
    """Headers that never end, a byte at a time."""
    with socket.create_connection((host, port), timeout=5) as made:
        made.sendall(b"GET / HTTP/1.1\r\nHost: " + host.encode() + b"\r\n")
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            made.sendall(b"X-A: b\r\n")
            time.sleep(0.05)
        made.settimeout(1)
        try:
            return "heard " + made.recv(100).decode()
        except OSError as failure:
            return type(failure).__name__


def by_the_client(method: str, url: str, options: dict[str, Any]) -> dict[str, Any]:
    """`ctx.http`, blocking."""
    from ringfence.inside.http import BlockingHttp

    response = BlockingHttp().request(method, url, **options)
    return {
        "status": response.status_code,
        "text": response.text,
        "url": response.url,
        "headers": dict(response.headers),
    }


def one_after_another(host: str, port: int, count: int) -> int:
    """New connections, each answered and closed."""
    answered = 0
    for _ in range(count):
        with socket.create_connection((host, port), timeout=10) as made:
            made.sendall(b"ping")
            answered += made.recv(4) == b"pong"
    return answered


def converse(host: str, port: int, *pieces: str) -> list[str]:
    """Send raw bytes, one piece after the answer to the one before."""
    heard: list[str] = []
    with socket.create_connection((host, port), timeout=1) as made:
        for piece in pieces:
            try:
                made.sendall(piece.encode("latin-1"))
                heard.append(made.recv(65536).decode("latin-1"))
            except OSError as failure:
                heard.append(type(failure).__name__)
    return heard


def converse_over_tls(host: str, *pieces: str) -> list[str]:
    """The same under TLS."""
    heard: list[str] = []
    context = ssl.create_default_context()
    with (
        socket.create_connection((host, 443), timeout=1) as made,
        context.wrap_socket(made, server_hostname=host) as tls,
    ):
        for piece in pieces:
            try:
                tls.sendall(piece.encode("latin-1"))
                heard.append(tls.recv(65536).decode("latin-1"))
            except OSError as failure:
                heard.append(type(failure).__name__)
    return heard


def patient_and_quick(slow: str, quick: str) -> list[str]:
    """Wait for a server that never ends its head, and ask another meanwhile."""
    made = socket.create_connection((slow, 80), timeout=5)
    with made:
        made.sendall(b"GET / HTTP/1.1\r\nHost: " + slow.encode() + b"\r\n\r\n")
        first = made.recv(1)
        return [first.decode(), *(with_urllib(quick) for _ in range(3))]
