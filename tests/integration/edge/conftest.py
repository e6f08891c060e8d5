"""A world with one listed and one unlisted host, plain and under TLS, each with its own log."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from ringfence.execution.strongbox import Strongbox
from tests.integration.edge.jails import TOOLS
from tests.integration.edge.vault import PERMITS, Fixed, Vaulted
from tests.integration.edge.world import (
    API,
    API_ADDRESS,
    OTHER,
    OTHER_ADDRESS,
    Far,
    TestAuthority,
    World,
    http_server,
)


@dataclass(frozen=True, kw_only=True)
class Places:
    """The servers of the world."""

    world: World
    authority: TestAuthority
    plain: Far
    secure: Far
    unlisted: Far

    @property
    def roots(self) -> Path:
        return self.authority.roots


@pytest_asyncio.fixture(name="places")
async def a_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Places]:
    """The edge finds its roots as OpenSSL does, so the world's authority is named as an operator would name one."""
    certificates = tmp_path / "certificates"
    certificates.mkdir()
    authority = TestAuthority(certificates)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.roots))
    world = World(folder=tmp_path, names={API: [API_ADDRESS], OTHER: [OTHER_ADDRESS]})
    async with (
        world.server(http_server(), at=[(API_ADDRESS, 80)]) as plain,
        world.server(http_server(), at=[(API_ADDRESS, 443)], tls=authority.server_side(API)) as secure,
        world.server(http_server(), at=[(OTHER_ADDRESS, 80), (OTHER_ADDRESS, 443)]) as unlisted,
    ):
        yield Places(world=world, authority=authority, plain=plain, secure=secure, unlisted=unlisted)


@pytest_asyncio.fixture(name="vaulted")
async def a_yard_with_a_secret(places: Places) -> AsyncIterator[Vaulted]:
    opened = Vaulted(state=places.world.folder / "state", world=places.world, permits=PERMITS)
    opened.strongbox = Strongbox({"API_KEY": Fixed()}, key=b"k")
    await opened.strongbox.load()
    try:
        await opened.load("holding", folder=TOOLS)
        yield opened
    finally:
        await opened.close()
