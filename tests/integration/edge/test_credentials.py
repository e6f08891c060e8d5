"""A secret in a real jail is a placeholder; its value reaches one slot of its own host under TLS, and nothing else."""

from __future__ import annotations

import asyncio
import base64
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ringfence.execution.placing import placements_for
from ringfence.execution.sandbox import Fault
from tests.integration.edge.conftest import Places
from tests.integration.edge.vault import VALUE, Fixed, Vaulted, logs, passed, refusals
from tests.integration.edge.world import API, API_ADDRESS, OTHER, OTHER_ADDRESS, Far, Serve, http_server

pytestmark = pytest.mark.req("SEC-2")


async def test_the_value_arrives_in_its_slot_and_the_tool_never_had_it(vaulted: Vaulted, places: Places) -> None:
    gave, raw = await vaulted.use("sign_in", url=f"https://{API}/x")
    assert json.loads(gave)[0] == 200
    assert f"Authorization: Bearer {VALUE}\r\n".encode() in places.secure.heard
    assert refusals(raw) == []


async def test_as_a_password_it_arrives_as_one(vaulted: Vaulted, places: Places) -> None:
    await vaulted.use("sign_in", url=f"https://{API}/x", how="basic")
    coded = base64.b64encode(f"ana:{VALUE}".encode())
    assert b"Authorization: Basic " + coded + b"\r\n" in places.secure.heard


async def test_another_header_is_a_slot_where_the_contract_says_so(vaulted: Vaulted, places: Places) -> None:
    assert (await vaulted.use("sign_in_by_key", url=f"https://{API}/x"))[0] == "hello"
    assert f"X-Api-Key: {VALUE}\r\n".encode() in places.secure.heard


async def test_every_call_has_a_placeholder_of_its_own(vaulted: Vaulted) -> None:
    job = vaulted.warranted("sign_in", {"url": f"https://{API}/"})
    made = [await placements_for(job.grant, strongbox=vaulted.strongbox) for _ in range(2)]
    assert len({each.placeholder for one in made if one for each in one.each}) == 2
    assert VALUE not in json.dumps([one.in_the_jail() for one in made if one])


@pytest.mark.parametrize("spelling", ["plain", "backwards", "hex", "base64", "percent"])
async def test_anywhere_else_it_is_refused_and_noticed(vaulted: Vaulted, places: Places, spelling: str) -> None:
    wheres = ["body", "json", "query", "header", "header name", "path"]
    if spelling != "plain":  # in its own header, only the plain placeholder is one
        wheres += ["its header, spelled", "beside it", "user"]
    cases = ({"url": f"https://{API}", "place": place, "spelling": spelling} for place in wheres)
    assert await passed(vaulted, "smuggle", cases) == []
    assert logs(places) == b""


async def test_for_another_host_or_without_tls_it_is_refused(vaulted: Vaulted, places: Places) -> None:
    urls = (f"http://{API}/", f"https://{OTHER}/", f"http://{OTHER}/")
    cases = ({"url": url, "how": how} for url in urls for how in ("bearer", "basic"))
    assert await passed(vaulted, "sign_in", cases) == []
    assert logs(places) == b""


@pytest.mark.parametrize("place", [f"http://{API}/there", f"https://{OTHER}/there", f"http://{OTHER}/there"])
async def test_after_a_redirect_elsewhere_it_is_not_swapped(vaulted: Vaulted, places: Places, place: str) -> None:
    moved = http_server(headers=b"Location: " + place.encode() + b"\r\n", status=b"302 Found")
    secure = places.authority.server_side(API)
    async with places.world.server(moved, at=[(API_ADDRESS, 443)], tls=secure) as far:
        for tool in ("sign_in", "sign_in_by_key"):
            await vaulted.use(tool, url=f"https://{API}/", follow=True)
    assert VALUE.encode() in far.heard
    assert VALUE.encode() not in logs(places)
    assert vaulted.strongbox.marker.encode() not in logs(places)


async def test_a_redirect_with_the_value_in_its_address_is_not_followed(vaulted: Vaulted, places: Places) -> None:
    target = f"https://{OTHER}/?stolen={VALUE}".encode()
    moved = http_server(headers=b"Location: " + target + b"\r\n", status=b"302 Found")
    secure, other = places.authority.server_side(API), places.authority.server_side(OTHER)
    async with (
        places.world.server(moved, at=[(API_ADDRESS, 443)], tls=secure),
        places.world.server(http_server(), at=[(OTHER_ADDRESS, 443)], tls=other) as elsewhere,
    ):
        gave, raw = await vaulted.use("sign_in", url=f"https://{API}/", follow=True)
    assert isinstance(gave, Fault)
    assert [code for code, _ in refusals(raw)] == ["secret_misplaced"]
    assert elsewhere.heard == b""


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


async def test_no_process_of_a_jail_holds_the_value_while_it_is_used(vaulted: Vaulted, places: Places) -> None:
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
        gave, _ = await vaulted.use("sign_in", url=f"https://{API}/")
    assert json.loads(gave)[0] == 200
    assert f"Bearer {VALUE}".encode() in far.heard
    spelled = [VALUE, VALUE[::-1], VALUE.encode().hex(), base64.b64encode(VALUE.encode()).decode()[:-4]]
    assert [pid for pid, held in seen.items() if any(each.encode() in held for each in spelled)] == []
    # The search does find what is there: the placeholder is, in the process of the tool.
    assert [pid for pid, held in seen.items() if vaulted.strongbox.marker.encode() in held] != []


@pytest.mark.req("SEC-1")
async def test_the_reference_shows_its_name_in_the_jail_and_another_is_not_there(vaulted: Vaulted) -> None:
    gave, _ = await vaulted.use("show")
    shown = "[REDACTED:API_KEY]"
    text, written, formatted, as_json, names, raw, other = json.loads(gave)
    assert (text, written, formatted, as_json, names) == (shown, shown, shown, f'"{shown}"', ["API_KEY"])
    assert "stays outside the jail" in raw
    assert other == "the tool asked for a secret that it did not declare"


async def test_a_revealed_value_is_in_the_jail_because_the_contract_says_so(vaulted: Vaulted) -> None:
    assert (await vaulted.use("reveal"))[0] == len(VALUE)


async def test_a_rotated_value_is_placed_by_the_next_call(vaulted: Vaulted, places: Places, monkeypatch: Any) -> None:
    await vaulted.use("sign_in", url=f"https://{API}/x")
    monkeypatch.setattr(Fixed, "value", "another-value-of-it")
    await vaulted.use("sign_in", url=f"https://{API}/x")
    heard = bytes(places.secure.heard)
    assert heard.index(VALUE.encode()) < heard.index(b"Bearer another-value-of-it")
