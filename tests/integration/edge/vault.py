"""A yard whose calls get placeholders, and far sides that give back what they were sent."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import h11

from ringfence.agents.profile import Permits
from ringfence.contract.capabilities import Network, Processes, Secrets
from ringfence.execution.placing import placements_for
from ringfence.execution.sandbox import Fault, RawOutput
from ringfence.execution.scrubbing import scrubbed_output
from ringfence.execution.secrets import Fetched, SecretValue
from ringfence.execution.strongbox import Strongbox
from tests.integration.edge.jails import EdgeYard
from tests.integration.edge.world import API, OTHER, Far, Serve

if TYPE_CHECKING:
    from tests.integration.edge.conftest import Places

VALUE = "zebra-orchid-41-lantern"
SPELLED = (VALUE, VALUE[::-1], VALUE.encode().hex(), base64.b64encode(VALUE.encode()).decode()[:-4])
PERMITS = Permits(network=Network.permit(API, OTHER), secrets=Secrets.permit("API_KEY"), processes=Processes("curl"))


class Fixed:
    """A source with one value."""

    kind, where, lasts = "fixed", "here", 0.0
    value = VALUE

    def fetch(self) -> Fetched:
        return Fetched(value=SecretValue("API_KEY", self.value))


class Vaulted(EdgeYard):
    """A yard whose calls get placeholders."""

    strongbox: Strongbox

    async def use(self, tool: str, **arguments: Any) -> tuple[Any, RawOutput]:
        job = self.warranted(tool, arguments)
        job = replace(job, placements=await placements_for(job.grant, strongbox=self.strongbox))
        raw = scrubbed_output(await self.sandbox.run(job), scrubber=self.strongbox.scrubber)
        if raw.fault is not None:
            return raw.fault, raw
        assert raw.reply is not None
        return json.loads(raw.reply), raw


def refusals(raw: RawOutput) -> list[tuple[str, str]]:
    return [(each["code"], each["reason"]) for each in (raw.effects.network or {}).get("refusals", ())]


def logs(places: Places) -> bytes:
    return bytes(places.secure.heard + places.plain.heard + places.unlisted.heard)


async def passed(yard: Vaulted, tool: str, cases: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The cases that were not refused with an event for an operator."""
    found = list[dict[str, Any]]()
    for case in cases:
        gave, raw = await yard.use(tool, **case)
        if not isinstance(gave, Fault) or "secret_misplaced" not in [code for code, _ in refusals(raw)]:
            found.append(case)
    return found


def reading(bodies: list[bytes]) -> Callable[[Far], Serve]:
    """A server that writes down every byte as it comes, and each body as it was meant."""

    def of(far: Far) -> Serve:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            http, body = h11.Connection(h11.SERVER), b""
            while not isinstance(event := http.next_event(), h11.EndOfMessage):
                if event is h11.NEED_DATA:
                    content = await reader.read(65_536)
                    far.heard += content
                    http.receive_data(content)
                body += event.data if isinstance(event, h11.Data) else b""
            bodies.append(body)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
            await writer.drain()

        return serve

    return of


def answering(*pieces: bytes, then: bytes = b"") -> Callable[[Far], Serve]:
    """A server that answers every request with these very bytes; `VALUE` in them is what it was sent."""

    def of(far: Far) -> Serve:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            head = await reader.readuntil(b"\r\n\r\n")
            far.heard += head
            assert VALUE.encode() in head, head
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
            writer.write(then)
            await writer.drain()

        return serve

    return of


def chunked(body: bytes, *, size: int, lines: Sequence[bytes] = ()) -> list[bytes]:
    """An answer in pieces: its head, and its body in chunks of so many bytes."""
    head = b"\r\n".join([b"HTTP/1.1 200 OK", *lines, b"Transfer-Encoding: chunked"]) + b"\r\n\r\n"
    cut = [body[at : at + size] for at in range(0, len(body), size)]
    return [head, *(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in cut), b"0\r\n\r\n"]
