"""Each agent has a folder, a namespace and sessions of its own."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from ringfence.errors import ConfigInvalid, Misuse
from tests.acceptance.spine.household import AGENT, assert_completed, assert_refused, config, open_house

pytestmark = pytest.mark.req("VIEW-6")


def mode(folder: Path) -> int:
    return stat.S_IMODE(folder.stat().st_mode)


async def test_each_agent_gets_a_folder_that_is_its_owners_alone(tmp_path: Path) -> None:
    async with open_house(config(tmp_path, agents={"ana": AGENT, "ben": AGENT})) as house:
        assert_completed(await house.call("echo", {"text": "x"}))
    folders = [tmp_path / "state/work" / name for name in ("ana", "ben")]
    assert [mode(folder) for folder in (folders[0].parent, *folders)] == [0o700] * 3


async def test_a_named_workspace_is_made_and_one_that_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir(mode=0o750)
    (tmp_path / "theirs").chmod(0o750)
    agents = {
        "ana": {**AGENT, "workspace": str(tmp_path / "homes/ana")},
        "ben": {**AGENT, "workspace": str(tmp_path / "theirs")},
    }
    async with open_house(config(tmp_path, agents=agents)):
        pass
    assert [mode(tmp_path / name) for name in ("homes", "homes/ana", "theirs")] == [0o700, 0o700, 0o750]


async def test_a_link_from_one_workspace_into_another_opens_nothing(tmp_path: Path) -> None:
    homes = {name: {**AGENT, "workspace": str(tmp_path / name)} for name in ("ana", "ben")}
    (tmp_path / "ana/inner").mkdir(parents=True)
    (tmp_path / "ben").symlink_to(tmp_path / "ana/inner")
    with pytest.raises(ConfigInvalid, match="through a link, the workspace of `ana` holds that of `ben`"):
        async with open_house(config(tmp_path, agents=homes)):
            pass
    (tmp_path / "ben").unlink()
    async with open_house(config(tmp_path, agents=homes)):
        pass


async def test_a_workspace_that_cannot_be_a_folder_opens_nothing(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    for place in ("taken", "taken/below"):
        with pytest.raises(ConfigInvalid, match="the workspace cannot be made"):
            async with open_house(config(tmp_path, agent={"workspace": str(tmp_path / place)})):
                pass


async def test_calls_sessions_and_keys_of_one_agent_are_nobody_elses(tmp_path: Path) -> None:
    async with open_house(config(tmp_path, agents={"ana": AGENT, "ben": AGENT})) as house:
        asked = await house.call("pay", {"to": "x", "amount": 1}, id="s1")
        await house.vote(asked, "alice")
        assert_refused(await house.session(agent="ben").resume(asked.invocation_id), "approval_void")
        with pytest.raises(Misuse, match="belongs to another"):
            await house.session(agent="ben", id="s1").call("echo", {"text": "x"})
        for agent in ("ana", "ben"):
            await house.session(agent=agent).call("note", {"text": "x"}, idempotency_key="k")
        keys = [job.idempotency_key for job in house.sandbox.jobs]
    assert len(keys) == len(set(keys)) == 2
