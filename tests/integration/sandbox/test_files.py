"""Granted files in a real jail: read, written with the right owner, measured by the host, and nothing else reached."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from ringfence.agents.profile import Permits
from ringfence.contract.capabilities import Files
from ringfence.errors import CallRefused
from ringfence.sandbox.floor import Floor
from tests.integration.sandbox.driver import Yard

pytestmark = [pytest.mark.req("SBX-4", "SBX-3"), pytest.mark.asyncio(loop_scope="module")]

PERMITS = Permits(files=Files(read=["knowledge", "shared"], write=["outbox"]))
OWNER = 1234


@dataclass
class Office:
    """A yard whose agents have workspaces."""

    yard: Yard
    folder: Path


def furnish(folder: Path, *, owner: int) -> Path:
    """A workspace that its owner alone may open."""
    for name in ("knowledge", "private"):
        (folder / name).mkdir(parents=True, mode=0o700)
        (folder / name / "a").write_text(f"{folder.name} {name}")
    (folder / "knowledge" / "sideways").symlink_to("../private/a")
    (folder / "knowledge" / "out").symlink_to("/etc/passwd")
    for place in (folder, *folder.rglob("*")):
        os.chown(place, owner, owner, follow_symlinks=False)
    (folder / "knowledge" / "a").chmod(0o600)
    return folder


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def office(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Office]:
    folder = tmp_path_factory.mktemp("office")
    owner = OWNER if os.geteuid() == 0 else os.geteuid()
    workspaces = {name: str(furnish(folder / name, owner=owner)) for name in ("ana", "ben")}
    yard = Yard(state=folder / "state", workspaces=workspaces, permits=PERMITS, floor=Floor(homes={}))
    await yard.load("filing")
    try:
        yield Office(yard=yard, folder=folder)
    finally:
        await yard.close()


async def test_a_private_file_is_read_through_the_context(office: Office) -> None:
    assert await office.yard.output("read_note", {"path": "knowledge/a"}) == "ana knowledge"
    assert await office.yard.output("read_note", {"path": "knowledge/../knowledge/a"}) == "ana knowledge"


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../../etc/passwd",
        "knowledge/sideways",
        "knowledge/out",
        "private/a",
        "/proc/self/root/etc/hosts",
    ],
)
async def test_what_was_not_granted_is_not_reachable(office: Office, path: str) -> None:
    assert (await office.yard.fault("read_note", {"path": path}))[0] == "path_not_reachable"


@pytest.mark.req("SBX-8")
async def test_what_is_written_belongs_to_the_folders_owner_and_is_in_the_effects(office: Office) -> None:
    raw = await office.yard.run("write_note", {"path": "outbox/one", "text": "1"})
    assert (raw.reply, raw.effects.files) == (
        b'["one"]',
        {"written": ["outbox/one"], "removed": [], "coverage": "whole"},
    )
    file = office.folder / "ana" / "outbox" / "one"
    assert (file.read_text(), file.stat().st_uid) == ("1", (office.folder / "ana").stat().st_uid)
    raw = await office.yard.run("remove", {"path": "outbox/one"})
    assert raw.effects.files == {"written": [], "removed": ["outbox/one"], "coverage": "whole"}


@pytest.mark.req("CON-12")
async def test_a_coroutine_awaits_its_files(office: Office) -> None:
    assert await office.yard.output("write_awaited", {"path": "outbox/two", "text": "2"}) == "2"


async def test_a_call_starts_in_the_workspace_and_owns_it_there(office: Office) -> None:
    assert await office.yard.output("plain_write", {"path": "outbox/three", "text": "3"}) == "/workspace 1000"


@pytest.mark.parametrize(
    ("what", "answers"),
    [
        ("write what is read", {"Read-only file system"}),
        ("add to what is read", {"Read-only file system"}),
        ("write the workspace", {"Read-only file system"}),
        ("permit", {"Read-only file system"}),
        ("link", {"Permission denied"}),
        ("hard link", {"Invalid cross-device link"}),
        ("pipe", {"Operation not permitted"}),
        ("device", {"Operation not permitted"}),
    ],
)
async def test_a_grant_is_no_more_than_it_says(office: Office, what: str, answers: set[str]) -> None:
    assert await office.yard.output("attempt", {"what": what}) in answers


async def test_from_agent_is_all_that_the_agent_may_read_and_a_missing_part_is_left_out(office: Office) -> None:
    assert await office.yard.output("everything") == ["./knowledge/a", "./knowledge/out", "./knowledge/sideways"]


@pytest.mark.req("VIEW-6")
async def test_each_agent_has_its_own_workspace(office: Office) -> None:
    assert await office.yard.output("read_note", {"path": "knowledge/a"}, agent="ben") == "ben knowledge"
    with pytest.raises(CallRefused):
        office.yard.sandbox.blueprint(office.yard.job("read_note", {"path": "x"}, agent="eve"))


async def test_a_folder_that_was_replaced_is_found_anew(office: Office) -> None:
    shared = office.folder / "ana" / "shared"
    for text in ("first", "second"):
        shared.mkdir()
        (shared / text).write_text("x")
        assert f"./shared/{text}" in await office.yard.output("everything")
        (shared / text).unlink()
        shared.rmdir()
    assert not any("shared" in path for path in await office.yard.output("everything"))


async def test_a_granted_name_that_becomes_a_link_is_refused(office: Office) -> None:
    shared = office.folder / "ana" / "shared"
    shared.symlink_to("/etc")
    try:
        refusal = office.yard.sandbox.refusal(office.yard.job("everything"))
        assert refusal is not None
        assert refusal.code == "path_not_reachable"
    finally:
        shared.unlink()


@pytest.mark.req("SBX-8")
async def test_calls_that_overlap_say_that_they_know_only_a_part(office: Office) -> None:
    wanted = [office.yard.run("write_note", {"path": f"outbox/{n}", "text": "x"}) for n in range(2)]
    done = await asyncio.gather(*wanted)
    assert [raw.effects.files["coverage"] for raw in done if raw.effects.files] == ["partial", "partial"]


async def test_a_jail_without_files_sees_no_workspace(office: Office) -> None:
    await office.yard.load("nosy")
    raw = await office.yard.run("surroundings")
    assert raw.reply is not None
    assert "workspace" not in json.dumps(json.loads(raw.reply))
    assert raw.effects.files is None
