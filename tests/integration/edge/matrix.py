"""Every library against a listed and an unlisted host, in whatever posture this machine gives, judged by the far side.

Takes: a folder, and the port behind which a database stands.  Gives: what each row came to, as plain JSON.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ringfence.agents.profile import Permits
from ringfence.contract.capabilities import Network, Processes
from ringfence.execution.sandbox import Fault
from tests.integration.edge.jails import TOOLS, EdgeYard
from tests.integration.edge.post_office import post_office
from tests.integration.edge.tools.libraries import LIBRARIES
from tests.integration.edge.world import API, API_ADDRESS, OTHER, OTHER_ADDRESS, Far, TestAuthority, World, http_server

DATABASE, DATABASE_ADDRESS = "db.example.com", "93.184.216.40"
MAIL, MAIL_ADDRESS = "mail.example.com", "93.184.216.41"
PERMITS = Permits(
    network=Network.permit(API, f"{DATABASE}:5432", f"{MAIL}:587", OTHER, f"{OTHER}:5432", f"{OTHER}:587"),
    processes=Processes("curl"),
)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One library: the tool that uses it, the host that this tool lists, and the way that it must go."""

    library: str
    tool: str
    host: str
    way: str

    @property
    def name(self) -> str:
        return f"{self.library}, {self.way}"


def _row(library: str, tool: str, host: str, way: str) -> Row:
    return Row(library=library, tool=tool, host=host, way=way)


ROWS: tuple[Row, ...] = (
    *(_row(library, "read_with", API, "inspected") for library in LIBRARIES),
    *(_row(library, "write_with", API, "opaque") for library in LIBRARIES),
    _row("ctx.http", "mediated", API, "mediated"),
    _row("psycopg", "query", DATABASE, "opaque"),
    _row("psycopg async", "query_awaited", DATABASE, "opaque"),
    _row("smtplib", "mail", MAIL, "opaque"),
)
# Programs need a jail that can hold what a tool starts.
PROGRAMS: tuple[Row, ...] = (_row("curl", "curl", API, "inspected"),)


@asynccontextmanager
async def furnished(folder: Path, *, database_port: int) -> AsyncGenerator[tuple[World, dict[str, Far]]]:
    """Listed hosts, an unlisted one behind every port, and an authority that the edge's roots hold."""
    certificates = folder / "certificates"
    certificates.mkdir()
    authority = TestAuthority(certificates)
    os.environ["SSL_CERT_FILE"] = str(authority.roots)
    names = {API: [API_ADDRESS], DATABASE: [DATABASE_ADDRESS], MAIL: [MAIL_ADDRESS], OTHER: [OTHER_ADDRESS]}
    world = World(folder=folder, names=names)
    world.servers[DATABASE_ADDRESS, 5432] = Far(port=database_port)
    unlisted = [(OTHER_ADDRESS, port) for port in (80, 443, 587, 5432)]
    async with (
        world.server(http_server(), at=[(API_ADDRESS, 443)], tls=authority.server_side(API)) as web,
        world.server(post_office(authority.server_side(MAIL)), at=[(MAIL_ADDRESS, 587)]) as mail,
        world.server(http_server(), at=unlisted) as other,
    ):
        yield world, {"web": web, "mail": mail, "other": other}


async def run_rows(folder: Path, *, database_port: int, rows: tuple[Row, ...]) -> dict[str, Any]:
    async with furnished(folder, database_port=database_port) as (world, far):
        yard = EdgeYard(state=folder / "state", world=world, permits=PERMITS)
        try:
            await yard.load("libraries", folder=TOOLS)
            told = {row.name: await _both_hosts(yard, row, world=world, other=far["other"]) for row in rows}
            return {**told, "letters": far["mail"].requests}
        finally:
            await yard.close()


async def _both_hosts(yard: EdgeYard, row: Row, *, world: World, other: Far) -> dict[str, Any]:
    gave, raw = await yard.reach(row.tool, library=row.library, host=row.host)
    listed = (raw.effects.network or {}).get("hosts", [])
    world.asked.clear()
    world.dialled.clear()
    unlisted, refused = await yard.reach(row.tool, library=row.library, host=OTHER)
    return {
        "posture": raw.evidence["posture"],
        "listed": gave.message if isinstance(gave, Fault) else gave,
        "ways": [line["way"] for line in listed],
        "unlisted": "failed" if isinstance(unlisted, Fault) else unlisted,
        "refusals": sorted({each["code"] for each in (refused.effects.network or {})["refusals"]}),
        "asked outside": [*world.asked],
        "dialled outside": [*map(list, world.dialled)],
        "heard": [other.connections, len(other.heard)],
    }


def expected(row: Row, *, posture: str) -> dict[str, Any]:
    return {
        "posture": posture,
        "listed": "hello",
        "ways": [row.way],
        "unlisted": "failed",
        "refusals": ["host_not_allowed"],
        "asked outside": [],
        "dialled outside": [],
        "heard": [0, 0],
    }
