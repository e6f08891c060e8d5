"""A database and a mail server through `session.call`: approved, in the shipped jail, end to end, on record."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ringfence.assembly import open_runtime
from ringfence.runtime import Completed, Failed, Runtime
from tests.acceptance.spine.household import assert_completed, assert_waiting, config
from tests.cluster import Cluster
from tests.integration.edge.beside import port_to
from tests.integration.edge.post_office import post_office
from tests.integration.edge.world import Far, TestAuthority

pytestmark = pytest.mark.req("NET-1", "NET-2")

MODULE = '''
"""Tools that speak other protocols than HTTP."""
import smtplib
from email.message import EmailMessage

import psycopg

from ringfence import Network, tool


@tool(safety="network", egress="write", idempotency="optional", needs=[Network("127.0.0.1:{database}")])
def count_to(number: int, port: int) -> list[int]:
    """Have a database count."""
    with psycopg.connect(host="127.0.0.1", port=port, user="postgres", dbname="postgres") as connection:
        return [row[0] for row in connection.execute("select * from generate_series(1, %s)", (number,))]


@tool(safety="network", egress="write", idempotency="optional", needs=[Network("127.0.0.1:{mail}")])
def send_letter(text: str, port: int) -> str:
    """Send a letter."""
    letter = EmailMessage()
    letter["From"], letter["To"], letter["Subject"] = "ana@example.com", "bob@example.com", "a letter"
    letter.set_content(text)
    with smtplib.SMTP("127.0.0.1", port, timeout=10) as server:
        server.starttls()
        server.send_message(letter)
    return "sent"
'''


@asynccontextmanager
async def opened(folder: Path, *, database: int) -> AsyncGenerator[tuple[Runtime, Far]]:
    far = Far(port=0)
    tls = TestAuthority(folder).server_side("127.0.0.1")

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far.connections += 1
        await post_office(tls)(far)(reader, writer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    far.port = server.sockets[0].getsockname()[1]
    (folder / "otherwise.py").write_text(MODULE.format(database=database, mail=far.port))
    places = [f"127.0.0.1:{port}" for port in (database, far.port)]
    settings = config(
        folder,
        agent={"network": {"allow": places, "private": places}},
        tools={"modules": ["otherwise"], "path": [str(folder)]},
        sandbox={"kind": "local"},
    )
    async with server, open_runtime(settings, accept_as="bob") as runtime:
        yield runtime, far


async def call_approved(runtime: Runtime, tool: str, arguments: dict[str, Any]) -> Completed | Failed:
    session = runtime.session(agent="ana", user="ulla")
    waiting = assert_waiting(await session.call(tool, arguments))
    await runtime.approvals.vote(waiting.approval_id, voter="alice", decision="approve")
    outcome = await session.resume(waiting.invocation_id)
    assert isinstance(outcome, Completed | Failed), outcome
    return outcome


async def test_a_database_is_asked_once_a_person_approved(tmp_path: Path, cluster: Cluster) -> None:
    with port_to(cluster.folder / ".s.PGSQL.5432") as port:
        async with opened(tmp_path, database=port) as (runtime, _):
            outcome = assert_completed(await call_approved(runtime, "count_to", {"number": 4, "port": port}))
            assert outcome.output == [1, 2, 3, 4]
            (line,) = outcome.effects["network"]["hosts"]
            assert (line["host"], line["port"], line["way"]) == ("127.0.0.1", port, "opaque")


async def test_a_letter_is_sent_once_a_person_approved(tmp_path: Path) -> None:
    async with opened(tmp_path, database=5432) as (runtime, far):
        arguments = {"text": "dear bob", "port": far.port}
        outcome = assert_completed(await call_approved(runtime, "send_letter", arguments))
        (letter,) = far.requests
        assert (outcome.output, "dear bob" in letter) == ("sent", True)
        assert [line["way"] for line in outcome.effects["network"]["hosts"]] == ["opaque"]


async def test_the_tool_of_the_one_server_does_not_reach_the_other(tmp_path: Path) -> None:
    async with opened(tmp_path, database=5432) as (runtime, far):
        outcome = await call_approved(runtime, "count_to", {"number": 4, "port": far.port})
        assert isinstance(outcome, Failed)
        assert (far.connections, bytes(far.heard)) == (0, b"")
