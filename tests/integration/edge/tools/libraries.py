"""Tools that use libraries as their documentation writes them: no proxy, no patched module, nothing left unverified."""

from __future__ import annotations

import asyncio
import smtplib
import urllib.request
from collections.abc import Callable
from email.message import EmailMessage

from ringfence import Context, Network, Processes, tool

WEB = Network("api.example.com")


def _urllib(url: str) -> str:
    with urllib.request.urlopen(url, timeout=10) as response:
        return str(response.read().decode())


def _requests(url: str) -> str:
    import requests

    return str(requests.get(url, timeout=10).text)


def _urllib3(url: str) -> str:
    import urllib3

    return str(urllib3.PoolManager().request("GET", url, timeout=10).data.decode())


def _httpx(url: str) -> str:
    import httpx

    return httpx.get(url, timeout=10).text


def _httpx_http2(url: str) -> str:
    import httpx

    with httpx.Client(http2=True, timeout=10) as client:
        return client.get(url).text


def _httpx_async(url: str) -> str:
    import httpx

    async def get() -> str:
        async with httpx.AsyncClient(timeout=10) as client:
            return (await client.get(url)).text

    return asyncio.run(get())


def _httpx_async_http2(url: str) -> str:
    import httpx

    async def get() -> str:
        async with httpx.AsyncClient(http2=True, timeout=10) as client:
            return (await client.get(url)).text

    return asyncio.run(get())


def _aiohttp(url: str) -> str:
    import aiohttp

    async def get() -> str:
        async with aiohttp.ClientSession() as session, session.get(url) as response:
            return await response.text()

    return asyncio.run(get())


def _streams(url: str) -> str:
    """The event loop's own connections, under TLS."""

    async def get() -> str:
        host = url.split("/")[2]
        reader, writer = await asyncio.open_connection(host, 443, ssl=True)
        writer.write(f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        body = await reader.readexactly(int(head.lower().partition(b"content-length:")[2].split()[0]))
        writer.close()
        return body.decode()

    return asyncio.run(get())


LIBRARIES: dict[str, Callable[[str], str]] = {
    "urllib": _urllib,
    "requests": _requests,
    "urllib3": _urllib3,
    "httpx": _httpx,
    "httpx http2": _httpx_http2,
    "httpx async": _httpx_async,
    "httpx async http2": _httpx_async_http2,
    "aiohttp": _aiohttp,
    "asyncio streams": _streams,
}


@tool(safety="read", needs=[WEB])
def read_with(library: str, host: str) -> str:
    """Read a page."""
    return LIBRARIES[library](f"https://{host}/")


@tool(safety="network", egress="write", idempotency="optional", needs=[WEB])
def write_with(library: str, host: str) -> str:
    """Read a page end to end."""
    return LIBRARIES[library](f"https://{host}/")


@tool(safety="read", needs=[WEB])
def mediated(ctx: Context, library: str, host: str) -> str:
    """Read a page by the edge's own hand."""
    return str(ctx.http.get(f"https://{host}/").raise_for_status().text)


@tool(safety="network", egress="write", idempotency="optional", needs=[Network("db.example.com:5432")])
def query(library: str, host: str) -> str:
    """Ask a database."""
    import psycopg

    with psycopg.connect(f"host={host} port=5432 user=postgres dbname=postgres", connect_timeout=10) as connection:
        row = connection.execute("select 'he' || 'llo'").fetchone()
    return str(row[0]) if row else ""


@tool(safety="network", egress="write", idempotency="optional", needs=[Network("db.example.com:5432")])
async def query_awaited(library: str, host: str) -> str:
    """Ask a database, awaited."""
    import psycopg

    where = f"host={host} port=5432 user=postgres dbname=postgres"
    async with await psycopg.AsyncConnection.connect(where, connect_timeout=10) as connection:
        row = await (await connection.execute("select 'he' || 'llo'")).fetchone()
    return str(row[0]) if row else ""


@tool(safety="network", egress="write", idempotency="optional", needs=[Network("mail.example.com:587")])
def mail(library: str, host: str) -> str:
    """Send a letter."""
    letter = EmailMessage()
    letter["From"], letter["To"], letter["Subject"] = "ana@example.com", "bob@example.com", "a letter"
    letter.set_content("hello\n")
    with smtplib.SMTP(host, 587, timeout=10) as server:
        server.starttls()
        server.send_message(letter)
        return "hello"


@tool(safety="read", needs=[WEB, Processes("curl")])
def curl(ctx: Context, library: str, host: str) -> str:
    """Read a page with a program."""
    done = ctx.processes.run(["curl", "--silent", "--show-error", "--max-time", "8", f"https://{host}/"])
    if done.code:
        raise RuntimeError(done.stderr.decode())
    return str(done.stdout.decode())
