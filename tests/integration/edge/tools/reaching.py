"""Tools with a way out, as their authors would write them; and some that want more than they declare."""

from __future__ import annotations

import socket
import struct
import urllib.request
from collections.abc import Callable
from typing import Annotated

from pydantic import Field

from ringfence import Context, Network, Processes, tool

Url = Annotated[str, Field(max_length=500)]


def _with(library: str, url: str) -> str:
    if library == "urllib":
        return str(urllib.request.urlopen(url, timeout=10).read().decode())
    if library == "requests":
        import requests

        return str(requests.get(url, timeout=10).text)
    if library == "urllib3":
        import urllib3

        return str(urllib3.PoolManager().request("GET", url, timeout=10).data.decode())
    import httpx

    if library == "httpx_http2":
        with httpx.Client(http2=True, timeout=10) as client:
            return client.get(url).text
    return httpx.get(url, timeout=10).text


@tool(safety="read", needs=[Network("api.example.com")])
def fetch(library: str, url: Url) -> str:
    """Read a page with a library of one's own."""
    return _with(library, url)


@tool(safety="network", egress="write", idempotency="optional", needs=[Network("api.example.com")])
def send(library: str, url: Url) -> str:
    """Reach a page end to end with a library of one's own."""
    return _with(library, url)


@tool(safety="read", needs=[Network("api.example.com")])
async def fetch_awaited(url: Url) -> str:
    """Read a page with aiohttp."""
    import aiohttp

    async with aiohttp.ClientSession() as session, session.get(url) as response:
        return await response.text()


@tool(safety="read", needs=[Network("api.example.com")])
def ask(ctx: Context, url: Url) -> str:
    """Read a page by the edge's own hand."""
    return str(ctx.http.get(url).raise_for_status().text)


@tool(safety="network", egress="write", idempotency="optional", needs=[Network("api.example.com")])
async def tell(ctx: Context, url: Url, text: str) -> int:
    """Send a text by the edge's own hand."""
    answer = await ctx.http.post(url, json={"text": text})
    return int(answer.status_code)


@tool(safety="read", needs=[Network("api.example.com")])
def change(url: Url) -> str:
    """Claim to read, and post."""
    return str(urllib.request.urlopen(url, data=b"changed", timeout=10).read().decode())


@tool(safety="network", egress="write", idempotency="optional", needs=[Network("api.example.com")])
def dial(host: str, port: int) -> str:
    """Dial whatever it is told to."""
    try:
        with socket.create_connection((host, port), timeout=3) as made:
            made.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            return "heard " + made.recv(100).decode(errors="replace")
    except OSError as failure:
        return type(failure).__name__


@tool(safety="network", egress="write", idempotency="optional", needs=[Network("api.example.com")])
def try_calls() -> dict[str, str]:
    """Ask the kernel for what a tool with a way out must not have."""
    tries: dict[str, Callable[[], object]] = {
        "raw": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP),
        "packet": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0),
        "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0),
        "unix": lambda: socket.socket(socket.AF_UNIX),
        "vsock": lambda: socket.socket(40, socket.SOCK_STREAM),
        "alg": lambda: socket.socket(38, socket.SOCK_SEQPACKET),
        "sctp": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132),
        "seqpacket": lambda: socket.socket(socket.AF_INET, socket.SOCK_SEQPACKET),
        "bind": lambda: socket.socket().bind(("127.0.0.1", 8080)),
        "listen": lambda: socket.socket().listen(),
        "accept": lambda: socket.socket().accept(),
        "fast open": lambda: socket.socket().sendto(b"x", 0x20000000, ("198.18.0.2", 80)),
        "fast open by message": lambda: socket.socket().sendmsg([b"x"], [], 0x20000000, ("198.18.0.2", 80)),
        "addressed datagram": lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("8.8.8.8", 53)),
        "filter": lambda: socket.socket().setsockopt(socket.SOL_SOCKET, 26, struct.pack("HP", 0, 0)),
        "linger": lambda: socket.socket().setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 9)),
        "wait": lambda: socket.socket().setsockopt(socket.SOL_SOCKET, 20, struct.pack("@ll", 9, 0)),
        "wait, newer": lambda: socket.socket().setsockopt(socket.SOL_SOCKET, 66, struct.pack("@qq", 9, 0)),
        "upper layer": lambda: socket.socket().setsockopt(socket.IPPROTO_TCP, 31, b"tls"),
    }
    outcomes: dict[str, str] = {}
    for name, attempt in tries.items():
        try:
            attempt()
            outcomes[name] = "done"
        except OSError as failure:
            outcomes[name] = failure.strerror or str(failure)
    return outcomes


@tool(safety="network", egress="write", idempotency="optional", needs=[Network("api.example.com:7000")])
def hold(count: int) -> int:
    """Hold many connections at once."""
    held = [socket.create_connection(("api.example.com", 7000), timeout=10) for _ in range(count)]
    for made in held:
        made.sendall(b"ping")
    return sum(made.recv(4) == b"pong" for made in held)


@tool(safety="network", egress="write", idempotency="optional", needs=[Network("api.example.com")])
def look() -> dict[str, str]:
    """What it sees of names and networks."""
    seen: dict[str, str] = {}
    for path in ("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/proc/net/route"):
        try:
            with open(path, encoding="utf-8") as file:
                seen[path] = file.read()
        except OSError as failure:
            seen[path] = type(failure).__name__
    return seen


@tool(safety="read", needs=[Network("api.example.com"), Processes("curl")])
def with_curl(ctx: Context, url: Url) -> list[str]:
    """Read a page with curl."""
    done = ctx.processes.run(["curl", "-sS", "--max-time", "8", url])
    return [str(done.code), done.stdout.decode(), done.stderr.decode()]


@tool(safety="read")
def stay() -> str:
    """Need nothing, and try for a socket."""
    try:
        socket.socket()
    except OSError as failure:
        return str(failure.strerror)
    return "a socket"
