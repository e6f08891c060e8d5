"""A secret in a real jail is a placeholder; its value reaches one slot of its own host under TLS, and nothing else."""

from __future__ import annotations

import asyncio
import base64
import json
import os
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from ringfence.agents.profile import Permits
from ringfence.contract.capabilities import Network, Secrets
from ringfence.execution.placing import placements_for
from ringfence.execution.sandbox import Fault, RawOutput
from ringfence.execution.scrubbing import scrubbed_output
from ringfence.execution.secrets import Fetched, SecretValue
from ringfence.execution.strongbox import Strongbox
from tests.integration.edge.conftest import Places
from tests.integration.edge.jails import TOOLS, EdgeYard
from tests.integration.edge.world import API, API_ADDRESS, OTHER, OTHER_ADDRESS, Far, Serve, http_server

pytestmark = pytest.mark.req("SEC-2")

VALUE = "zebra-orchid-41-lantern"
PERMITS = Permits(network=Network.permit(API, OTHER), secrets=Secrets.permit("API_KEY"))


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


@pytest_asyncio.fixture
async def yard(places: Places) -> AsyncIterator[Vaulted]:
    opened = Vaulted(state=places.world.folder / "state", world=places.world, permits=PERMITS)
    opened.strongbox = Strongbox({"API_KEY": Fixed()}, key=b"k")
    await opened.strongbox.load()
    try:
        await opened.load("holding", folder=TOOLS)
        yield opened
    finally:
        await opened.close()


def refusals(raw: RawOutput) -> list[tuple[str, str]]:
    return [(each["code"], each["reason"]) for each in (raw.effects.network or {}).get("refusals", ())]


def logs(places: Places) -> bytes:
    return bytes(places.secure.heard + places.plain.heard + places.unlisted.heard)


async def test_the_value_arrives_in_its_slot_and_the_tool_never_had_it(yard: Vaulted, places: Places) -> None:
    gave, raw = await yard.use("sign_in", url=f"https://{API}/x")
    assert json.loads(gave)[0] == 200
    assert f"Authorization: Bearer {VALUE}\r\n".encode() in places.secure.heard
    assert refusals(raw) == []


async def test_as_a_password_it_arrives_as_one(yard: Vaulted, places: Places) -> None:
    await yard.use("sign_in", url=f"https://{API}/x", how="basic")
    coded = base64.b64encode(f"ana:{VALUE}".encode())
    assert b"Authorization: Basic " + coded + b"\r\n" in places.secure.heard


async def test_another_header_is_a_slot_where_the_contract_says_so(yard: Vaulted, places: Places) -> None:
    assert (await yard.use("sign_in_by_key", url=f"https://{API}/x"))[0] == "hello"
    assert f"X-Api-Key: {VALUE}\r\n".encode() in places.secure.heard


async def test_every_call_has_a_placeholder_of_its_own(yard: Vaulted) -> None:
    job = yard.warranted("sign_in", {"url": f"https://{API}/"})
    made = [await placements_for(job.grant, strongbox=yard.strongbox) for _ in range(2)]
    assert len({each.placeholder for one in made if one for each in one.each}) == 2
    assert VALUE not in json.dumps([one.in_the_jail() for one in made if one])


async def tried(yard: Vaulted, tool: str, cases: Iterable[dict[str, str]]) -> list[dict[str, str]]:
    """The cases that were not refused with an event for an operator."""
    passed = list[dict[str, str]]()
    for case in cases:
        gave, raw = await yard.use(tool, **case)
        if not isinstance(gave, Fault) or "secret_misplaced" not in [code for code, _ in refusals(raw)]:
            passed.append(case)
    return passed


@pytest.mark.parametrize("spelling", ["plain", "backwards", "hex", "base64", "percent"])
async def test_anywhere_else_it_is_refused_and_noticed(yard: Vaulted, places: Places, spelling: str) -> None:
    wheres = ["body", "json", "query", "header", "header name", "path"]
    if spelling != "plain":  # in its own header, only the plain placeholder is one
        wheres += ["its header, spelled", "beside it", "user"]
    cases = ({"url": f"https://{API}", "place": place, "spelling": spelling} for place in wheres)
    assert await tried(yard, "smuggle", cases) == []
    assert logs(places) == b""


async def test_for_another_host_or_without_tls_it_is_refused(yard: Vaulted, places: Places) -> None:
    urls = (f"http://{API}/", f"https://{OTHER}/", f"http://{OTHER}/")
    cases = ({"url": url, "how": how} for url in urls for how in ("bearer", "basic"))
    assert await tried(yard, "sign_in", cases) == []
    assert logs(places) == b""


async def test_a_library_of_ones_own_gets_no_placeholder_out(yard: Vaulted, places: Places) -> None:
    urls = (f"http://{API}/", f"https://{API}/")
    cases = ({"url": url, "place": place} for url in urls for place in ("header", "query", "body"))
    assert await tried(yard, "by_own_client", cases) == []
    assert VALUE.encode() not in logs(places)
    assert yard.strongbox.marker.encode() not in logs(places)


@pytest.mark.parametrize("place", [f"http://{API}/there", f"https://{OTHER}/there", f"http://{OTHER}/there"])
async def test_after_a_redirect_elsewhere_it_is_not_swapped(yard: Vaulted, places: Places, place: str) -> None:
    moved = http_server(headers=b"Location: " + place.encode() + b"\r\n", status=b"302 Found")
    secure = places.authority.server_side(API)
    async with places.world.server(moved, at=[(API_ADDRESS, 443)], tls=secure) as far:
        for tool in ("sign_in", "sign_in_by_key"):
            await yard.use(tool, url=f"https://{API}/", follow=True)
    assert VALUE.encode() in far.heard
    assert VALUE.encode() not in logs(places)
    assert yard.strongbox.marker.encode() not in logs(places)


async def test_a_redirect_with_the_value_in_its_address_is_not_followed(yard: Vaulted, places: Places) -> None:
    target = f"https://{OTHER}/?stolen={VALUE}".encode()
    moved = http_server(headers=b"Location: " + target + b"\r\n", status=b"302 Found")
    secure, other = places.authority.server_side(API), places.authority.server_side(OTHER)
    async with (
        places.world.server(moved, at=[(API_ADDRESS, 443)], tls=secure),
        places.world.server(http_server(), at=[(OTHER_ADDRESS, 443)], tls=other) as elsewhere,
    ):
        gave, raw = await yard.use("sign_in", url=f"https://{API}/", follow=True)
    assert isinstance(gave, Fault)
    assert [code for code, _ in refusals(raw)] == ["secret_misplaced"]
    assert elsewhere.heard == b""


def echoing(encoding: bytes = b"") -> Callable[[Far], Serve]:
    """A server that gives the credential back everywhere, its body cut into chunks of three bytes."""

    def of(far: Far) -> Serve:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            head = await reader.readuntil(b"\r\n\r\n")
            far.heard += head
            value = VALUE.encode() if VALUE.encode() in head else b"nothing"
            body = b"you sent " + value + b" or " + base64.b64encode(b"u:" + value) + b" or " + value[::-1]
            lines = [b"HTTP/1.1 401 Not " + value, b"X-Echo: " + value, b"Transfer-Encoding: chunked"]
            lines += [b"Content-Encoding: " + encoding] if encoding else []
            writer.write(b"\r\n".join(lines) + b"\r\n\r\n")
            for at in range(0, len(body), 3):
                piece = body[at : at + 3]
                writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                await writer.drain()
            writer.write(b"0\r\n\r\n")
            await writer.drain()

        return serve

    return of


async def test_what_the_far_side_gives_back_reaches_the_jail_without_the_value(yard: Vaulted, places: Places) -> None:
    secure = places.authority.server_side(API)
    async with places.world.server(echoing(), at=[(API_ADDRESS, 443)], tls=secure) as far:
        gave, raw = await yard.use("sign_in", url=f"https://{API}/")
    assert VALUE.encode() in far.heard
    status, reason, headers, text = json.loads(gave)
    assert (status, reason, dict(headers)["x-echo"]) == (401, "Not [REDACTED:API_KEY]", "[REDACTED:API_KEY]")
    assert text.count("[REDACTED:API_KEY]") == 3
    assert "scrubbed" not in raw.evidence  # taken out before the jail, so there was nothing left to find behind it


async def test_an_answer_that_cannot_be_searched_is_refused(yard: Vaulted, places: Places) -> None:
    secure = places.authority.server_side(API)
    async with places.world.server(echoing(b"br"), at=[(API_ADDRESS, 443)], tls=secure):
        gave, raw = await yard.use("sign_in", url=f"https://{API}/")
    assert isinstance(gave, Fault)
    assert "compressed" in refusals(raw)[0][1]


def descendants() -> list[int]:
    """Every process below this one: fork servers, wardens, zygotes, spares and the tool itself."""
    parents = dict[int, int]()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue  # it ended meanwhile
    found = {os.getpid()}
    while fresh := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= fresh
    return sorted(found - {os.getpid()})


def memory(pid: int) -> bytes:
    """Everything that a process holds: memory, environment, arguments."""
    held = bytearray()
    for name in ("environ", "cmdline"):
        held += Path(f"/proc/{pid}/{name}").read_bytes()
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as content:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            bounds, mode, *_ = line.split()
            start, end = (int(bound, 16) for bound in bounds.split("-"))
            if mode.startswith("rw") and end - start < 1 << 28:
                try:
                    content.seek(start)
                    held += content.read(end - start)
                except OSError:
                    continue  # a page that nothing can read
    return bytes(held)


async def test_no_process_of_a_jail_holds_the_value_while_it_is_used(yard: Vaulted, places: Places) -> None:
    seen = dict[int, bytes]()

    def searching(far: Far) -> Serve:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            far.heard += await reader.readuntil(b"\r\n\r\n")
            for pid in descendants():
                with suppress(ProcessLookupError, FileNotFoundError):  # a spare that ended meanwhile
                    seen[pid] = memory(pid)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            await writer.drain()

        return serve

    secure = places.authority.server_side(API)
    async with places.world.server(searching, at=[(API_ADDRESS, 443)], tls=secure) as far:
        gave, _ = await yard.use("sign_in", url=f"https://{API}/")
    assert json.loads(gave)[0] == 200
    assert f"Bearer {VALUE}".encode() in far.heard
    spelled = [VALUE, VALUE[::-1], VALUE.encode().hex(), base64.b64encode(VALUE.encode()).decode()[:-4]]
    assert [pid for pid, held in seen.items() if any(each.encode() in held for each in spelled)] == []
    # The search does find what is there: the placeholder is, in the process of the tool.
    assert [pid for pid, held in seen.items() if yard.strongbox.marker.encode() in held] != []


@pytest.mark.req("SEC-1")
async def test_the_reference_shows_its_name_in_the_jail_and_another_is_not_there(yard: Vaulted) -> None:
    gave, _ = await yard.use("show")
    shown = "[REDACTED:API_KEY]"
    text, written, formatted, as_json, names, raw, other = json.loads(gave)
    assert (text, written, formatted, as_json, names) == (shown, shown, shown, f'"{shown}"', ["API_KEY"])
    assert "stays outside the jail" in raw
    assert other == "the tool asked for a secret that it did not declare"


async def test_a_revealed_value_is_in_the_jail_because_the_contract_says_so(yard: Vaulted) -> None:
    assert (await yard.use("reveal"))[0] == len(VALUE)


async def test_a_rotated_value_is_placed_by_the_next_call(yard: Vaulted, places: Places, monkeypatch: Any) -> None:
    await yard.use("sign_in", url=f"https://{API}/x")
    monkeypatch.setattr(Fixed, "value", "another-value-of-it")
    await yard.use("sign_in", url=f"https://{API}/x")
    heard = bytes(places.secure.heard)
    assert heard.index(VALUE.encode()) < heard.index(b"Bearer another-value-of-it")
