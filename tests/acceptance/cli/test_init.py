"""`ringfence init` makes a project that works at once and overwrites nothing."""

from __future__ import annotations

import re
import shlex
import stat
from pathlib import Path

import pytest

from tests.acceptance.cli.typed import Shop, typed

pytestmark = pytest.mark.req("OPS-1")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_init_writes_a_config_tools_a_readme_and_an_ignore_file(tmp_path: Path) -> None:
    came = typed("init", "shop", cwd=tmp_path)
    assert (came.code, came.err) == (0, "")
    made = sorted(path.name for path in (tmp_path / "shop").iterdir())
    assert made == [".gitignore", "README.md", "ringfence.yaml", "state", "tools.py"]
    assert "state/" in (tmp_path / "shop" / ".gitignore").read_text().splitlines()


@pytest.mark.req("AUD-2")
def test_the_state_folder_and_the_signing_key_are_their_owners_alone(tmp_path: Path) -> None:
    typed("init", cwd=tmp_path)
    assert mode(tmp_path / "state") == 0o700
    assert mode(tmp_path / "state" / "audit.key") == 0o600
    assert mode(tmp_path / "state" / "raw.key") == 0o600


@pytest.mark.req("AUD-2")
def test_the_printed_fingerprint_proves_the_trail_and_another_does_not(tmp_path: Path) -> None:
    came = typed("init", cwd=tmp_path)
    assert "Keep this fingerprint somewhere else" in came.out
    found = re.search(r"ed25519:[0-9a-f]{40}", came.out)
    assert found
    assert typed("audit", "verify", "--key", found[0], cwd=tmp_path).code == 0
    assert typed("audit", "verify", "--key", "ed25519:" + "0" * 40, cwd=tmp_path).code != 0


@pytest.mark.parametrize("name", ["ringfence.yaml", "tools.py", "README.md", ".gitignore", "state"])
def test_nothing_that_exists_is_overwritten_and_then_nothing_is_written(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("mine")
    came = typed("init", cwd=tmp_path)
    assert came.code == 2
    assert f"`{name}` exists already" in came.err
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "mine"


def test_init_names_the_next_steps(tmp_path: Path) -> None:
    came = typed("init", "shop", cwd=tmp_path)
    assert "ringfence check --accept --as bob" in came.out


@pytest.mark.req("REG-1")
def test_a_new_project_has_no_errors_and_one_warning_that_nobody_accepted_its_tools(new_shop: Shop) -> None:
    came = new_shop.typed("check", "--json")
    assert came.code == 6
    assert came.document["errors"] == []
    [warning] = came.document["warnings"]
    assert warning.startswith("nobody has accepted ")


@pytest.mark.req("REG-1")
def test_a_new_project_is_clean_once_its_operator_accepts_the_tools(new_shop: Shop) -> None:
    came = new_shop.typed("check", "--accept", "--as", "bob", "--json")
    assert came.document == {"errors": [], "warnings": [], "tools": 6, "agents": 2, "accepted_by": "bob"}
    assert came.code == 0
    assert new_shop.typed("check").code == 0


@pytest.fixture
def desk(tmp_path: Path) -> Shop:
    """The fuller project, its tools accepted."""
    assert typed("init", "desk", "--template", "desk", cwd=tmp_path).code == 0
    made = Shop(folder=tmp_path / "desk")
    came = made.typed("check", "--accept", "--as", "bob", "--json")
    assert came.document == {"errors": [], "warnings": [], "tools": 10, "agents": 2, "accepted_by": "bob"}
    (made.folder / "work/night/handbook").mkdir()
    return made


ENDS = {
    "check": [0],
    "status": [0, 0],
    "call": [0, 0, 0, 3, 4, 0],
    "approvals": [0],
    "grants": [0],
    "freeze": [0],
    "unfreeze": [0],
}


@pytest.mark.req("VIEW-3", "POL-3", "POL-5", "APR-8", "OPS-8", "OPS-9")
def test_the_readme_of_the_fuller_project_can_be_typed_from_top_to_bottom(desk: Shop) -> None:
    lines = (desk.folder / "README.md").read_text().splitlines()
    typing = [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("    ringfence ")]
    *words, verify = typing
    came = {tuple(each): desk.typed(*each) for each in words}
    ends: dict[str, list[int]] = {}
    for (command, *_), answer in came.items():
        ends.setdefault(command, []).append(answer.code)
    assert ends == ENDS
    said = "\n".join(answer.out for answer in came.values())
    assert "refused [recipient_not_allowed]" in said
    assert "1 of 5" in said
    assert "odd mails" in said
    assert (verify[:2], desk.typed("audit", "verify").code) == (["audit", "verify"], 0)


@pytest.mark.req("VIEW-3", "VIEW-5", "VIEW-6")
def test_the_fuller_project_narrows_by_binding_and_gives_each_agent_a_folder(desk: Shop) -> None:
    def seen(*words: str) -> list[str]:
        return [tool["name"] for tool in desk.json("status", *words)["tools"]]

    mails = ["draft_reply", "find_order", "queue_mail", "refund", "run_python"]
    assert seen("ana", "--binding", "email:support") == mails
    assert seen("ana", "--binding", "web:shop") == ["draft_reply", "find_order"]
    assert seen("night") == ["find_order", "read_file", "search_files"]
    assert {path.name: mode(path) for path in (desk.folder / "work").iterdir()} == {"ana": 0o700, "night": 0o700}
    assert desk.typed("call", "ana", "find_order", '{"order": "A-1001"}').code == 4
    assert "work/" in (desk.folder / ".gitignore").read_text().splitlines()


@pytest.mark.req("REG-1")
def test_in_the_fuller_project_changed_code_waits_for_an_operator(desk: Shop) -> None:
    desk.edit("tools.py", 'status="sent"', 'status="lost"')
    call = ["call", "night", "find_order", '{"order": "A-1001"}', "--json"]
    came = desk.typed(*call)
    assert (came.code, came.document["code"]) == (4, "tool_not_found")
    assert desk.typed("pins", "accept", "module:tools", "--as", "bob").code == 0
    assert desk.typed(*call).document["output"] == {"order": "A-1001", "status": "lost"}


def test_a_template_that_does_not_exist_is_misuse_and_writes_nothing(tmp_path: Path) -> None:
    assert typed("init", "--template", "bank", cwd=tmp_path).code == 2
    assert list(tmp_path.iterdir()) == []
