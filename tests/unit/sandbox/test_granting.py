"""What a `Files` grant comes to on disk: each path once, known by its identity, never out of the workspace."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ringfence.contract.capabilities import FROM_AGENT, Files
from ringfence.errors import CallRefused
from ringfence.inside.layout import WORKSPACE, identity_of
from ringfence.sandbox.floor import MACHINE, NAMES, Floor
from ringfence.sandbox.granting import resolve_files

pytestmark = pytest.mark.req("SBX-4", "VIEW-6")

NO_FLOOR = Floor(homes={})


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    place = tmp_path / "ana"
    (place / "knowledge" / "deep").mkdir(parents=True)
    (place / "knowledge" / "note").write_text("x")
    (place / "out").symlink_to("..")
    (place / "away").symlink_to("/etc")
    (place / "near").symlink_to("knowledge")
    return place


def resolved(files: Files, workspace: Path, floor: Floor = NO_FLOOR) -> dict[str, tuple[str, str]]:
    granted = resolve_files(files, workspace=str(workspace), floor=floor)
    for each in granted:
        assert each.identity == identity_of(os.stat(each.source))
    return {
        each.path.removeprefix(WORKSPACE): (each.access, each.source.removeprefix(str(workspace))) for each in granted
    }


def refused(files: Files, workspace: Path, floor: Floor = NO_FLOOR) -> CallRefused:
    with pytest.raises(CallRefused) as caught:
        resolve_files(files, workspace=str(workspace), floor=floor)
    assert caught.value.code == "path_not_reachable"
    return caught.value


def test_paths_are_found_and_what_lies_within_another_is_part_of_it(workspace: Path) -> None:
    files = Files(read=["knowledge", "knowledge/deep", "outbox/in"], write=["outbox", "knowledge/deep"])
    assert resolved(files, workspace) == {
        "/knowledge": ("read", "/knowledge"),
        "/knowledge/deep": ("write", "/knowledge/deep"),
        "/outbox": ("write", "/outbox"),
    }


def test_the_whole_workspace_can_be_granted(workspace: Path) -> None:
    assert resolved(Files(read=["."]), workspace) == {"": ("read", "")}


def test_a_folder_to_write_to_is_made_and_one_to_read_from_may_be_missing(workspace: Path) -> None:
    assert resolved(Files(read=["nothing"], write=["new/folder"]), workspace) == {
        "/new/folder": ("write", "/new/folder")
    }
    assert (workspace / "new").stat().st_mode & 0o777 == 0o700
    assert (workspace / "new").stat().st_uid == workspace.stat().st_uid


@pytest.mark.parametrize("path", ["out", "away", "out/x", "away/passwd"])
def test_a_link_that_leaves_the_workspace_is_not_reachable(workspace: Path, path: str) -> None:
    for files in (Files(read=[path]), Files(write=[path])):
        assert "leads out of the workspace" in refused(files, workspace).message
    assert not (workspace.parent / "x").exists()


def test_a_link_that_stays_is_granted_as_what_it_points_to(workspace: Path) -> None:
    assert resolved(Files(read=["near"]), workspace) == {"/near": ("read", "/knowledge")}


def test_a_pipe_is_neither_a_file_nor_a_folder(workspace: Path) -> None:
    os.mkfifo(workspace / "pipe")
    assert "neither a file nor a folder" in refused(Files(read=["pipe"]), workspace).message


def test_paths_that_were_left_to_the_agent_are_settled_before(workspace: Path) -> None:
    refused(Files(read=FROM_AGENT), workspace)
    settled = Files(read=FROM_AGENT).intersect(Files(read=["knowledge"]))
    assert resolved(settled, workspace) == {"/knowledge": ("read", "/knowledge")}


def test_a_workspace_that_is_gone_is_a_refusal(tmp_path: Path) -> None:
    assert "cannot be opened" in refused(Files(read=["."]), tmp_path / "gone").message


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_the_floor_is_never_granted(workspace: Path, name: str) -> None:
    (workspace / name).mkdir(parents=True)
    assert "can never be granted" in refused(Files(read=[name]), workspace).message
    assert "can never be granted" in refused(Files(write=[f"{name}/x"]), workspace).message


@pytest.mark.parametrize("guarded", MACHINE)
def test_the_machines_own_folders_are_never_granted(guarded: str) -> None:
    assert Floor(homes={}).objection(guarded) is not None
    assert Floor(homes={}).objection(f"{guarded}/x") is not None
    assert Floor(homes={}).objection("/") is not None


def test_a_home_folder_holds_keys_even_while_it_has_none_yet(tmp_path: Path) -> None:
    home = os.path.expanduser("~")
    assert "lies in it" in (Floor().objection(home) or "")
    assert Floor().objection(f"{home}/project/notes") is None


def test_what_ringfence_lives_by_is_never_granted_but_an_agents_own_folder_is(tmp_path: Path) -> None:
    state, agents = str(tmp_path / "state"), tmp_path / "state" / "agents"
    floor = Floor(own={state: "the state folder"}, workspaces=str(agents), homes={})
    assert floor.objection(str(agents / "ana" / "notes")) is None
    for path in (state, f"{state}/ringfence.db", floor.workspaces or "", str(tmp_path), f"{state}/sources"):
        assert floor.objection(path) is not None


def test_a_granted_folder_with_the_store_in_it_is_refused(workspace: Path) -> None:
    floor = Floor(own={str(workspace / "knowledge" / "deep" / "ringfence.db"): "the store"}, homes={})
    assert "the store" in refused(Files(read=["knowledge"]), workspace, floor).message
