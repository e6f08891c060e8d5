"""Where the kernel asks before a connection, what was copied is what is dialled, and nothing is made by the tool."""

from __future__ import annotations

import asyncio
import errno
import socket
import struct
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from ringfence.contract.capabilities import Network
from ringfence.edge import connects
from ringfence.edge.connects import join
from ringfence.edge.terms import Bounds
from ringfence.kernel import notify
from ringfence.kernel.notify import Notice
from tests.integration.edge.asking import run_asker
from tests.integration.edge.conftest import Places
from tests.integration.edge.world import API, API_ADDRESS, OTHER, hearing_server

pytestmark = pytest.mark.req("NET-1")

# The first name that a call asks for has this address.
FIRST = "198.18.0.2"
ANSWERED = "HTTP/1.1 200 OK"
QUESTION = bytes.fromhex("123401000001000000000000") + b"\3api\7example\3com\0" + bytes.fromhex("00010001")


@asynccontextmanager
async def listening_beside() -> AsyncGenerator[tuple[int, list[bytes]]]:
    """A server on this machine's loopback that nobody listed, and what it heard."""
    heard: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.read(100))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], heard


async def test_the_control_is_reached_by_whoever_is_not_held() -> None:
    async with listening_beside() as (port, heard):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"hello")
        await reader.read()
        writer.close()
    assert heard == [b"hello"]


@pytest.mark.req("NET-4")
async def test_an_address_that_changes_while_it_is_dialled_leads_nowhere_else(places: Places) -> None:
    async with listening_beside() as (port, heard):
        ran = await run_asker(
            places.world, "flip_address", FIRST, 80, "127.0.0.1", port, 400, network=Network(API), known=(API,)
        )
        assert set(ran.gave) <= {"connected", "ECONNREFUSED"}
        assert (sum(ran.gave.values()), heard) == (400, [])


async def test_a_descriptor_that_changes_while_it_is_dialled_breaks_nothing(places: Places) -> None:
    ran = await run_asker(places.world, "flip_descriptor", FIRST, 80, 300, network=Network(API), known=(API,))
    assert set(ran.gave) <= {"connected", "EISCONN", "ENOTSOCK", "EBADF"}
    assert places.unlisted.connections == 0


async def test_a_socket_that_leads_somewhere_is_neither_dissolved_nor_aimed_anew(places: Places) -> None:
    async with listening_beside() as (port, heard):
        ran = await run_asker(
            places.world, "connect_and_again", FIRST, 80, "127.0.0.1", port, network=Network(API), known=(API,)
        )
    assert ran.gave == ["connected", "EISCONN", "EISCONN", ANSWERED]
    assert heard == []


def _six(host: str, *, scope: int = 0) -> str:
    family = struct.pack("=H", socket.AF_INET6)
    return (
        family + struct.pack("!HI", 80, 0) + socket.inet_pton(socket.AF_INET6, host) + struct.pack("=I", scope)
    ).hex()


@pytest.mark.req("NET-4")
@pytest.mark.parametrize(
    ("family", "address", "word"),
    [
        (socket.AF_INET, struct.pack("H14x", socket.AF_UNSPEC).hex(), "EAFNOSUPPORT"),
        (socket.AF_INET, struct.pack("H14x", socket.AF_UNIX).hex(), "EAFNOSUPPORT"),
        (socket.AF_INET, _six("::1"), "EAFNOSUPPORT"),
        (socket.AF_INET, "0200", "EINVAL"),
        (socket.AF_INET6, _six("::1"), "ECONNREFUSED"),
        (socket.AF_INET6, _six("::ffff:127.0.0.1"), "ECONNREFUSED"),
        (socket.AF_INET6, _six("64:ff9b::7f00:1"), "ECONNREFUSED"),
        (socket.AF_INET6, _six("fe80::1", scope=1), "ECONNREFUSED"),
        (socket.AF_INET6, _six("::ffff:198.18.0.2", scope=1), "ECONNREFUSED"),
        (socket.AF_INET6, _six("::1")[:40], "EINVAL"),
    ],
)
async def test_other_addresses_are_refused_as_the_kernel_would(
    places: Places, family: int, address: str, word: str
) -> None:
    ran = await run_asker(places.world, "connect_raw", family, address, network=Network(API), known=(API,))
    assert (ran.gave, places.world.dialled) == (word, [])


async def test_pointers_and_descriptors_that_lead_nowhere_are_errors_of_the_tool(places: Places) -> None:
    ran = await run_asker(places.world, "connect_nowhere", network=Network(API))
    assert ran.gave == ["EFAULT", "EFAULT", "EFAULT", "ENOTSOCK", "EBADF", "EBADF"]
    assert ran.effects["refusals"] == []


@pytest.mark.req("NET-4")
async def test_an_unlisted_place_is_refused_at_once_and_on_record(places: Places) -> None:
    places_dialled = [["169.254.169.254", 80], ["127.0.0.1", 80], ["10.0.0.1", 443], [FIRST, 22], ["8.8.8.8", 53]]
    ran = await run_asker(places.world, "dial_each", places_dialled, network=Network(API), known=(API,))
    assert ran.gave == ["ECONNREFUSED"] * 5
    assert (places.world.dialled, ran.codes) == ([], ["host_not_allowed"] * 5)


@pytest.mark.req("NET-2")
async def test_every_thread_of_a_call_may_connect(places: Places) -> None:
    ran = await run_asker(places.world, "talk_in_a_thread", FIRST, 80, network=Network(API), known=(API,))
    assert ran.gave == ANSWERED


@pytest.mark.req("NET-2")
async def test_what_watches_a_socket_goes_on_watching_it(places: Places) -> None:
    ran = await run_asker(places.world, "talk_by_event_loop", FIRST, 80, network=Network(API), known=(API,))
    assert ran.gave == ["0", "4", "0", "False", ANSWERED]


@pytest.mark.req("NET-2")
async def test_a_socket_of_the_newer_family_is_joined_too(places: Places) -> None:
    ran = await run_asker(places.world, "talk_over_six", f"::ffff:{FIRST}", 80, network=Network(API), known=(API,))
    assert ran.gave == ANSWERED


@pytest.mark.req("NET-6")
async def test_names_are_asked_over_a_connection_and_only_listed_ones_exist(places: Places) -> None:
    ran = await run_asker(places.world, "resolve", API, OTHER, "x.api.example.com", network=Network(API))
    assert ran.gave == [FIRST, "gaierror", "gaierror"]
    assert (places.world.asked, places.world.dialled) == ([], [])
    assert {entry["name"] for entry in ran.effects["names"]} == {API, OTHER, "x.api.example.com"}


@pytest.mark.req("NET-6")
@pytest.mark.parametrize(
    ("content", "zeros", "answered"),
    [
        (struct.pack("!H", len(QUESTION)) + QUESTION, 0, "yes"),
        (struct.pack("!H", len(QUESTION) + 9) + QUESTION, 0, "no"),
        (b"\0\0", 0, "no"),
        (b"\xff\xff", 65_535, "no"),
        (b"\0\5hello", 0, "no"),
    ],
    ids=["a question", "one cut short", "an empty one", "a huge one", "none at all"],
)
async def test_the_resolver_answers_whole_questions_alone(
    places: Places, content: bytes, zeros: int, answered: str
) -> None:
    ran = await run_asker(places.world, "ask_names", content.hex(), zeros, network=Network(API))
    assert (ran.raised, bool(ran.gave)) == (None, answered == "yes")


@pytest.mark.req("NET-6")
async def test_questions_are_counted_over_connections_too(places: Places) -> None:
    three = (struct.pack("!H", len(QUESTION)) + QUESTION) * 3
    ran = await run_asker(places.world, "ask_names", three.hex(), network=Network(API), bounds=Bounds(questions=2))
    assert "more names asked" in ran.effects["refusals"][0]["reason"]


async def test_a_process_that_is_not_of_the_call_gets_no_connection(places: Places) -> None:
    ran = await run_asker(places.world, "from_a_child", FIRST, 80, network=Network(API), known=(API,))
    assert (ran.gave, places.world.dialled) == ("ECONNREFUSED", [])
    assert ran.effects["refusals"][0]["reason"] == "a process that is not of this call asks for a connection"
    ours = await run_asker(
        places.world, "from_a_child", FIRST, 80, network=Network(API), known=(API,), belongs=lambda _asks, _ours: True
    )
    assert ours.gave == "connected"


async def test_where_nobody_answers_any_more_there_is_no_such_call(places: Places) -> None:
    ran = await run_asker(
        places.world, "hold_until_told", FIRST, 80, network=Network(API), known=(API,), ends_early=True
    )
    assert ran.gave == ["connected", "ENOSYS"]


async def test_more_connections_than_one_call_may_make_end_the_asking(places: Places) -> None:
    bounds = Bounds(connections=3)
    ran = await run_asker(
        places.world, "dial_until_refused", FIRST, 80, 10, network=Network(API), known=(API,), bounds=bounds
    )
    assert ran.gave == ["5", "ENOSYS"]


async def test_what_is_refused_is_counted_too(places: Places) -> None:
    bounds = Bounds(connections=3)
    unlisted = [["10.0.0.1", 443]] * 6
    ran = await run_asker(places.world, "dial_each", unlisted, network=Network(API), bounds=bounds)
    assert ran.gave == ["ECONNREFUSED"] * 4 + ["ENOSYS"] * 2
    nowhere = await run_asker(places.world, "connect_nowhere", network=Network(API), bounds=bounds)
    assert nowhere.gave == ["EFAULT", "EFAULT", "EFAULT", "ENOTSOCK", "ENOSYS", "ENOSYS"]


async def test_two_hundred_connections_are_held_at_once(places: Places) -> None:
    async with places.world.server(hearing_server(answers=[b"pong"]), at=[(API_ADDRESS, 7000)]):
        ran = await run_asker(
            places.world, "many_at_once", FIRST, 7000, 200, network=Network(f"{API}:7000"), known=(API,)
        )
    assert (ran.raised, ran.gave) == (None, 200)


async def test_what_was_copied_of_somebody_who_is_gone_counts_for_nothing(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(_listener: int, _notice: Notice) -> bool:
        return False

    monkeypatch.setattr(notify, "is_open", gone)
    ran = await run_asker(places.world, "dial_each", [[FIRST, 80]], network=Network(API), known=(API,))
    assert (ran.gave, places.world.dialled) == (["EINTR"], [])


def test_only_the_tools_own_socket_is_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody else of this machine finds the listener first."""
    thieves: list[socket.socket] = []
    plain = connects.aim

    def after_a_thief(theirs: socket.socket, place: tuple[str, int]) -> None:
        thieves.append(socket.create_connection(place))
        plain(theirs, place)

    monkeypatch.setattr(connects, "aim", after_a_thief)
    with socket.socket() as theirs, join(theirs) as made:
        theirs.sendall(b"mine")
        thieves[0].close()
        assert made.getpeername() == theirs.getsockname()


def test_whom_nobody_lets_in_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(_theirs: socket.socket, _place: tuple[str, int]) -> None:
        raise ConnectionRefusedError(errno.ECONNREFUSED, "refused")

    monkeypatch.setattr(connects, "aim", nowhere)
    with socket.socket() as theirs, pytest.raises(ConnectionRefusedError):
        join(theirs)


def test_a_socket_that_never_arrives_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(_theirs: socket.socket, _place: tuple[str, int]) -> None:
        return

    monkeypatch.setattr(connects, "aim", nothing)
    with socket.socket() as theirs, pytest.raises(ConnectionRefusedError, match="nothing arrived"):
        join(theirs)
