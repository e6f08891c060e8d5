"""Nothing of one call is there for the next: no memory, file, descriptor, variable, random number or neighbour."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
import pytest_asyncio

from tests.integration.sandbox.driver import TOOLS, Yard

HOME = Path.home()

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.req("SBX-2")]


@pytest_asyncio.fixture(autouse=True, scope="module", loop_scope="module")
async def _tools(yard: Yard) -> None:
    await yard.load("nosy")


async def test_what_one_call_wrote_the_next_cannot_read(yard: Yard) -> None:
    first = await yard.output("remember", {"word": "canary"})
    second = await yard.output("remember", {"word": "other"})
    assert first == second == ["", ""]


async def test_no_two_calls_draw_the_same_random_bytes(yard: Yard) -> None:
    drawn = [await yard.output("chance") for _ in range(6)]
    for source in zip(*drawn, strict=True):
        assert len(set(source)) == len(drawn), source


async def test_a_call_sees_itself_alone(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY", "secret")
    kept = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(kept, True)
    seen = await yard.output("surroundings")
    os.close(kept)
    path = seen.pop("path")
    assert seen == {
        "descriptors": ["0", "1", "2", "3"],
        "environment": ["HOME=/tmp", "LANG=C.UTF-8", "TMPDIR=/tmp"],
        "initial environment": ["EACCES"],
        "processes": ["1"],
        "scratch": [],
        "ids": ["1", "0", "1000", "1000", "[]"],
        "tool": ["nosy.py"],
        "host": ["jail", "/tmp"],
    }
    assert path[0] == "/tool"


async def test_calls_side_by_side_do_not_see_each_other(yard: Yard) -> None:
    seen = await asyncio.gather(*(yard.output("surroundings") for _ in range(4)))
    assert [each["processes"] for each in seen] == [["1"]] * 4


@pytest.mark.req("SBX-3", "CON-6")
async def test_the_kernel_refuses_what_was_not_declared(yard: Yard) -> None:
    assert await yard.output("tries") == {
        "shared memory": "EPERM",
        "private memory": "done",
        "socket": "EPERM",
        "fork": "EPERM",
        "run": "EPERM",
        "write outside": "EROFS",
        "write the source": "EROFS",
        "write inside": "done",
        "landlock rule": "EPERM",
        "landlock set": "EPERM",
        "seccomp": "EPERM",
        "setns": "EPERM",
        "kill all": "ESRCH",
        "kill parent": "ESRCH",
    }


@pytest.mark.req("CON-13", "SBX-3")
async def test_no_project_folder_state_folder_or_home_is_there(yard: Yard) -> None:
    project = Path(__file__).parents[3]
    outside = [
        "/etc/shadow",
        str(HOME / ".ssh"),
        "/home",
        "/sys",
        "/run",
        "/var",
        "/usr/bin",
        "/dev/shm",
        "/proc/sys",
    ]
    outside += [str(yard.state), str(TOOLS), str(project / "pyproject.toml"), str(project / "tests"), "/bin"]
    assert dict(zip(outside, await yard.output("exists", {"paths": outside}), strict=True)) == dict.fromkeys(
        outside, False
    )


async def test_each_call_has_its_own_count_of_threads(yard: Yard) -> None:
    holding = asyncio.ensure_future(yard.output("hold_threads", {"wanted": 200, "seconds": 1.0}))
    await asyncio.sleep(0)
    alone = await yard.output("threads", {"wanted": 200})
    assert (await holding, alone) == (63, 63)


async def test_two_agents_never_share_a_jail(yard: Yard) -> None:
    ana, ben = [await yard.run("chance", agent=agent) for agent in ("ana", "ben")]
    seen = [raw.evidence["process"] for raw in (ana, ben)]
    assert seen[0]["parent"] != seen[1]["parent"]
    # Those of a call may bear the number of one that has ended; those of a jail live on.
    assert all(seen[0]["namespaces"][kind] != seen[1]["namespaces"][kind] for kind in ("net", "uts"))
    assert seen[0]["uid"] != seen[1]["uid"]


async def test_every_call_is_a_process_of_its_own(yard: Yard) -> None:
    pids = [(await yard.run("chance")).evidence["process"]["pid"] for _ in range(8)]
    assert len(set(pids)) == 8
    assert os.getpid() not in pids
