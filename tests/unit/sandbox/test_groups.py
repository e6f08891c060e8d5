"""A group says what happened since it was last asked, and a process is in it only where every hierarchy shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ringfence.kernel import cgroups, proc
from ringfence.sandbox.groups import Groups, Lent, Used

pytestmark = pytest.mark.req("SBX-3")


def lent(tmp_path: Path) -> Lent:
    folders = {"memory": tmp_path / "memory" / "ringfence-1-1-7", "pids": tmp_path / "pids" / "ringfence-1-1-7"}
    for folder in folders.values():
        folder.mkdir(parents=True)
    return Lent(cgroups.Group(version=1, folders=folders), name="ringfence-1-1-7")


@pytest.mark.parametrize(
    ("shown", "held"),
    [
        ("4:memory:/host/ringfence-1-1-7\n3:pids:/ringfence-1-1-7\n0::/\n", True),
        ("4:memory:/host/ringfence-1-1-7\n3:pids:/\n0::/\n", False),
        ("4:memory:/host/ringfence-1-1-70\n3:pids:/ringfence-1-1-70\n0::/\n", False),
        ("4:memory:/host/ringfence-1-1-7/deeper\n3:pids:/ringfence-1-1-7\n0::/\n", False),
        ("4:memory:/host/other-ringfence-1-1-7\n3:pids:/ringfence-1-1-7\n0::/\n", False),
    ],
)
def test_a_process_is_held_where_every_hierarchy_shows_it_in_the_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shown: str, held: bool
) -> None:
    def read(_path: str) -> bytes:
        return shown.encode()

    monkeypatch.setattr(proc, "read", read)
    assert lent(tmp_path).holds(1) is held


def test_kills_are_counted_since_the_group_was_last_asked(tmp_path: Path) -> None:
    mine = lent(tmp_path)
    groups = Groups(hierarchy=cgroups.Hierarchy(version=1, folders={}), memory_bytes=1, processes=1)
    counter = mine.group.folders["memory"] / "memory.oom_control"
    said: list[Used] = []
    for kills in (2, 2, 3):
        counter.write_text(f"oom_kill_disable 0\nunder_oom 0\noom_kill {kills}\n")
        said.append(groups.used(mine))
    assert said == [Used(memory_kills=2), Used(memory_kills=0), Used(memory_kills=1)]
