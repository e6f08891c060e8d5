"""A far side on loopback under TLS, which only `network.private` opens; it writes down what it hears."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.integration.edge.world import TestAuthority


def _nothing() -> None:
    """By default nothing is done while a request is being answered."""


@dataclass(kw_only=True)
class Desk:
    """The server, its log, and what a test does while it holds a request."""

    port: int = 0
    heard: list[bytes] = field(default_factory=list[bytes])
    meanwhile: Callable[[], None] = _nothing

    @property
    def here(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def network(self) -> dict[str, Any]:
        """What an agent that may reach it is permitted."""
        return {"allow": [self.here], "private": [self.here]}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                self.heard.append(head)
                self.meanwhile()
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


@asynccontextmanager
async def a_desk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Desk]:
    """Its authority is among this machine's roots, as an operator would name one."""
    certificates = folder / "certificates"
    certificates.mkdir()
    authority = TestAuthority(certificates)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.roots))
    desk = Desk()
    server = await asyncio.start_server(desk.serve, "127.0.0.1", 0, ssl=authority.server_side("127.0.0.1"))
    desk.port = server.sockets[0].getsockname()[1]
    try:
        yield desk
    finally:
        server.close()


def private_file(path: Path, text: str) -> str:
    path.touch(mode=0o600)
    path.write_text(text + "\n")
    return str(path)
