"""Files around a config: the config itself, secrets, keys, workspaces. What is exposed is refused."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ringfence.assembly.config import load_config
from ringfence.assembly.config.document import MOST_BYTES
from ringfence.errors import ConfigInvalid

pytestmark = pytest.mark.req("VIEW-1")


def problems(source: Any) -> list[str]:
    with pytest.raises(ConfigInvalid) as raised:
        load_config(source)
    return list(raised.value.problems)


@pytest.fixture(autouse=True)
def at_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "absent.yaml"
    assert problems(file) == [f"{file}: the config file cannot be read: no such file or directory"]


def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert problems(tmp_path)[0].startswith(f"{tmp_path}: the config file ")


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert problems(tmp_path / "pipe") == [f"{tmp_path}/pipe: the config file is not a regular file"]


def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("ringfence.assembly.config.load.os.open", refuse)
    assert problems("locked.yaml") == ["locked.yaml: the config file cannot be read: permission denied"]


@pytest.mark.parametrize("name", ["", "a\0b", "x" * 5000, "version: 1\n"])
def test_text_that_is_no_path_is_refused(name: str) -> None:
    (problem,) = problems(name)
    assert problem.isprintable()


def test_a_file_that_is_not_utf_8_is_refused_with_the_line(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_bytes(b"version: 1\n# caf\xe9\n")
    assert problems("r.yaml") == ["r.yaml:2:1: the file is not UTF-8 text"]


def test_a_byte_order_mark_is_read_over(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_bytes(b"\xef\xbb\xbfversion: 1\n")
    assert load_config("r.yaml").file == tmp_path / "r.yaml"


def test_a_file_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_bytes(b"version: 1\n#" + b"x" * MOST_BYTES)
    assert problems("r.yaml") == [f"r.yaml: the config file is longer than {MOST_BYTES} bytes"]


def test_a_config_that_everybody_can_write_is_warned_about(tmp_path: Path) -> None:
    file = tmp_path / "r.yaml"
    file.write_text("version: 1\nagents: {ana: {allowed_tools: [x]}}\n", encoding="utf-8")
    file.chmod(0o646)
    assert [str(warning) for warning in load_config("r.yaml").warnings] == [
        "r.yaml:1:1: everybody on this machine can write this file; `chmod o-w` it"
    ]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o644, 0o610])
@pytest.mark.parametrize(
    ("keys", "where"),
    [
        ({"secrets": {"KEY": {"file": "private"}}}, "secrets.KEY.file"),
        ({"audit": {"signing_key": "private"}}, "audit.signing_key"),
    ],
)
def test_a_private_file_that_others_can_open_is_refused(
    tmp_path: Path, mode: int, keys: dict[str, Any], where: str
) -> None:
    (tmp_path / "private").write_text("value", encoding="utf-8")
    (tmp_path / "private").chmod(mode)
    assert problems({"version": 1, **keys}) == [f"`{where}`: the file is open to others than its owner; `chmod 600` it"]
    (tmp_path / "private").chmod(0o600)
    load_config({"version": 1, **keys})


def test_a_secret_file_that_does_not_exist_is_a_warning() -> None:
    config = {"version": 1, "agents": {"ana": {"allowed_tools": ["x"]}}, "secrets": {"KEY": {"file": "absent"}}}
    (warning,) = load_config(config).warnings
    assert str(warning).startswith("`secrets.KEY.file`: the file cannot be looked at")


@pytest.mark.parametrize(
    "keys",
    [
        {"audit": {"anchor": "../a"}},
        {"audit": {"signing_key": "a/../../k"}},
        {"secrets": {"K": {"file": "../k"}}},
        {"tools": {"path": [".."]}},
    ],
)
def test_a_path_that_climbs_is_refused(keys: dict[str, Any]) -> None:
    (problem,) = problems({"version": 1, **keys})
    assert "climbs" in problem


def test_a_variable_that_holds_a_secret_may_not_enter_a_jail() -> None:
    config = {"version": 1, "secrets": {"KEY": {"env": "TOKEN"}}, "sandbox": {"kind": "local", "env": ["TZ", "TOKEN"]}}
    assert problems(config) == [
        "`sandbox.env[1]`: `TOKEN` holds the secret `KEY`, which must not enter a jail; leave it out"
    ]


def agents(**workspaces: str | None) -> dict[str, Any]:
    listed = {name: {"allowed_tools": ["x"]} | ({"workspace": at} if at else {}) for name, at in workspaces.items()}
    return {"version": 1, "agents": listed}


@pytest.mark.parametrize(
    ("ana", "bob"), [("home", "home"), ("home", "home/bob"), ("home", "./home//x/"), ("state", None), (".", None)]
)
def test_agents_share_no_workspace(ana: str, bob: str | None) -> None:
    (problem,) = problems(agents(ana=ana, bob=bob))
    assert "the workspace of `ana` holds that of `bob`" in problem


def test_folders_with_a_common_beginning_are_separate() -> None:
    loaded = load_config(agents(ana="home/a", bob="home/ab", cy="home/b", dee=None, eve=None))
    assert len({agent.workspace for agent in loaded.agents.values()}) == 5


@pytest.mark.parametrize(
    ("files", "reached"),
    [
        ({"read": ["."]}, ["secrets.KEY.file", "audit.anchor", "audit.signing_key", "store.url", "raw.key"]),
        ({"read": ["state/raw.key"]}, ["raw.key"]),
        ({"write": ["state/ringfence.db"]}, ["store.url"]),
        ({"read": ["state/audit.key"]}, ["audit.signing_key"]),
        ({"read": ["src"], "write": ["state/work"]}, []),
    ],
)
def test_no_agent_is_permitted_the_files_that_guard_it(files: dict[str, Any], reached: list[str]) -> None:
    config: dict[str, Any] = {"version": 1, "secrets": {"KEY": {"file": "key"}}}
    config["agents"] = {"ana": {"allowed_tools": ["x"], "workspace": ".", "files": files}}
    if reached:
        found = problems(config)
        assert [line.split("`")[3] for line in found] == reached
    else:
        load_config(config)


@pytest.mark.parametrize("kind", ["read", "write"])
def test_an_agent_neither_reads_nor_writes_its_own_config(tmp_path: Path, kind: str) -> None:
    text = "version: 1\nagents: {{ana: {{allowed_tools: [x], workspace: ., files: {{{}: [r.yaml]}}}}}}\n"
    (tmp_path / "r.yaml").write_text(text.format(kind), encoding="utf-8")
    assert problems("r.yaml")[0].endswith("reaches this config file; name a narrower path")
