"""`git clone https://…` as a listed binary in a real jail: end to end, read by the edge, and no further than listed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from ringfence.agents.profile import Permits
from ringfence.contract.capabilities import Network
from tests.integration.edge.conftest import Places
from tests.integration.edge.git_host import git_host, make_repository
from tests.integration.edge.jails import TOOLS, EdgeYard
from tests.integration.edge.tools.cloning import GIT
from tests.integration.edge.world import OTHER, Far

pytestmark = pytest.mark.req("NET-2")

HOST, ADDRESS = "git.example.com", "93.184.216.50"
URL = f"https://{HOST}/letters.git"
PERMITS = Permits(network=Network.permit(HOST, OTHER), processes=GIT)


@dataclass(frozen=True, kw_only=True)
class Hosting:
    """A jail, and the server that its tools may clone from."""

    yard: EdgeYard
    far: Far
    folder: Path


@pytest_asyncio.fixture
async def hosting(places: Places, tmp_path: Path) -> AsyncIterator[Hosting]:
    places.world.names[HOST] = [ADDRESS]
    folder = tmp_path / "repositories"
    folder.mkdir()
    tls = places.authority.server_side(HOST)
    yard = EdgeYard(state=places.world.folder / "state", world=places.world, permits=PERMITS)
    async with places.world.server(git_host(folder), at=[(ADDRESS, 443)], tls=tls) as far:
        try:
            await yard.load("cloning", folder=TOOLS)
            yield Hosting(yard=yard, far=far, folder=folder)
        finally:
            await yard.close()


def _ways(network: dict[str, Any] | None) -> list[str]:
    return [line["way"] for line in (network or {})["hosts"]]


async def test_git_clones_end_to_end(hosting: Hosting) -> None:
    make_repository(hosting.folder, letter="dear ana\n")
    gave, raw = await hosting.yard.reach("clone", url=URL)
    assert (gave, _ways(raw.effects.network)) == (["0", "dear ana\n"], ["opaque"])
    assert {line.split()[0] for line in hosting.far.requests} == {"GET", "POST"}


@pytest.mark.req("NET-5")
async def test_git_clones_what_is_only_read_through_the_jails_own_trust(hosting: Hosting) -> None:
    make_repository(hosting.folder, letter="dear ben\n")
    gave, raw = await hosting.yard.reach("clone_by_reading", url=f"https://{HOST}/files/letters.git")
    assert (gave, set(_ways(raw.effects.network))) == (["0", "dear ben\n"], {"inspected"})
    assert {line.split()[0] for line in hosting.far.requests} == {"GET"}


@pytest.mark.req("NET-5", "CON-5")
async def test_a_tool_that_declares_to_read_gets_no_post_of_git_out(hosting: Hosting) -> None:
    make_repository(hosting.folder, letter="dear carol\n")
    gave, raw = await hosting.yard.reach("clone_by_reading", url=URL)
    assert gave[0] != "0"
    assert {line.split()[0] for line in hosting.far.requests} == {"GET"}
    assert "read_only" in (raw.effects.network or {})["refusals"][0]["reason"]


@pytest.mark.req("NET-1")
@pytest.mark.parametrize("tool", ["clone", "clone_by_reading"])
async def test_git_reaches_no_unlisted_host(hosting: Hosting, places: Places, tool: str) -> None:
    gave, raw = await hosting.yard.reach(tool, url=f"https://{OTHER}/letters.git")
    assert gave[0] != "0"
    assert (places.unlisted.connections, places.world.asked, places.world.dialled) == (0, [], [])
    assert (raw.effects.network or {})["refusals"][0]["code"] == "host_not_allowed"
