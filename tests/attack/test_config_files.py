"""Attack 157: config files that mean something else than they show, or that break while a runtime is open."""

from __future__ import annotations

from pathlib import Path

import pytest

from ringfence.assembly import open_runtime
from ringfence.errors import ConfigInvalid
from tests.acceptance.spine import toolbox
from tests.acceptance.spine.household import assert_completed, scripted

pytestmark = pytest.mark.req("VIEW-1")

PLAIN = """\
version: 1
people: {alice: {roles: [approver]}, carol: {roles: [viewer]}}
agents:
  ana: {owner: carol, allowed_tools: ["*"]}
secrets: {KEY: {file: state/key}}
accounts: {mail: {one: {agents: [ana], credential: KEY}}}
store: {url: "sqlite:///state/ringfence.db"}
"""
LAUGHS = "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9) if n else 'ha'}]\n" for n in range(9))
HOSTILE = {
    "aliases": (PLAIN.replace("[approver]", "&r [approver]").replace("[viewer]", "*r"), "anchor"),
    "a bomb of aliases": (PLAIN + LAUGHS, "anchor"),
    "a merge key": (PLAIN.replace("{roles: [viewer]}", "{<<: {roles: [viewer]}}"), "<<"),
    "a tag": (PLAIN + "policy: !!python/object/apply:os.system ['true']\n", "tag"),
    "a second document": (PLAIN + "---\nversion: 1\n", "document"),
    "depth": (PLAIN + "policy: " + "[" * 400 + "]" * 400 + "\n", "deep"),
    "size": (PLAIN + "# " + "x" * (1 << 20) + "\n", "longer than"),
    "an unknown key": (PLAIN.replace("owner:", "ownr:"), "did you mean `owner`"),
    "a key twice": (PLAIN + "agents: {ana: {allowed_tools: []}}\n", "a second time"),
    "a path that climbs": (PLAIN.replace("state/key", "../key"), ".."),
    "a store that climbs": (PLAIN.replace("sqlite:///state", "sqlite:///../state"), ".."),
    "a binding twice": (
        PLAIN.replace('["*"]}', '["*"], bindings: [' + "{channel: mail, instance: one}, " * 2 + "]}"),
        "mail:one",
    ),
    "nothing": ("", "version"),
    "no text": ("\x00\x01", "control character"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "state").mkdir(mode=0o700)
    key = tmp_path / "state" / "key"
    key.write_text("a secret of some length")
    key.chmod(0o600)
    (tmp_path / "ringfence.yaml").write_text(PLAIN)
    return tmp_path


async def opens(folder: Path) -> int:
    async with open_runtime(folder / "ringfence.yaml", tools=toolbox.ALL, dangerously_sandbox=scripted()) as runtime:
        return len(runtime.agents)


@pytest.mark.parametrize("trick", HOSTILE)
async def test_157_a_hostile_file_is_an_error_that_names_what_is_wrong(folder: Path, trick: str) -> None:
    assert await opens(folder) == 1  # the control: the same file without the trick
    text, named = HOSTILE[trick]
    (folder / "ringfence.yaml").write_text(text)
    with pytest.raises(ConfigInvalid) as refusal:
        await opens(folder)
    assert named in str(refusal.value)


@pytest.mark.req("VIEW-7")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
async def test_157_a_secret_that_others_can_read_is_an_error(folder: Path, mode: int) -> None:
    assert await opens(folder) == 1
    (folder / "state" / "key").chmod(mode)
    with pytest.raises(ConfigInvalid, match="KEY"):
        await opens(folder)


async def test_157_a_file_that_breaks_leaves_the_old_one_in_force_where_it_is_open(folder: Path) -> None:
    file = folder / "ringfence.yaml"
    async with open_runtime(file, tools=toolbox.ALL, dangerously_sandbox=scripted()) as runtime:
        file.write_text(PLAIN.replace('["*"]', "[]]"))
        with pytest.raises(ConfigInvalid):
            await opens(folder)
        assert_completed(await runtime.session(agent="ana").call("echo", {"text": "x"}))
