"""What a host without namespaces does, as one program: it prints what its jails did, as JSON."""

# ruff: noqa: ASYNC240  a test may look at files while nothing else waits for the loop
from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

from driver import Yard  # type: ignore[import-not-found]  # pyright: ignore[reportMissingImports]

from ringfence.contract.limits import Limits
from ringfence.sandbox.groups import open_doors
from ringfence.sandbox.local import LocalProcessSandbox
from ringfence.sandbox.tasks import Tasks

AT_ONCE, CALLS = 4, 200
SECONDS_TO_DIE = 20
LIMITS = Limits(cpu_seconds=1, wall_seconds=20, memory_mb=96)
GREEDY: tuple[tuple[str, dict[str, Any]], ...] = (
    ("spin", {}),
    ("spin_stubbornly", {}),
    ("swallow_memory", {}),
    ("start_threads", {}),
    ("forge_then_return", {"what": "early"}),
    ("broken", {"text": "x"}),
)


async def calls() -> dict[str, Any]:
    yard: Any = Yard(state=Path(tempfile.mkdtemp()))
    for module in ("plain", "nosy", "greedy", "forger", "brood", "early"):
        await yard.load(module)
    raw = await yard.run("add", {"a": 1, "b": 2})
    told: dict[str, Any] = {
        "reply": json.loads(raw.reply),
        "evidence": raw.evidence,
        "tries": await yard.output("tries"),
        "random": [(await yard.output("chance"))[1] for _ in range(3)],
        "threads": await threads(yard),
        "at_once": await asyncio.gather(*(yard.output("add", {"a": number, "b": 1}) for number in range(6))),
        "faults": [(await yard.fault(tool, arguments, limits=LIMITS))[0] for tool, arguments in GREEDY],
        "early": await yard.output("early"),
        "sibling": await yard.output("signal_the_brood"),
        "peak": raw.effects.peak_memory_bytes > 1 << 20,
    }
    # As if a thousand others of the user had been there when they were counted, and had left since.
    counting: Any = Tasks
    counting.count = a_thousand
    told["too_many"] = (await yard.fault("hold_threads", {"wanted": 60, "seconds": 30}, limits=Limits(pids=8)))[0]
    strict: Any = LocalProcessSandbox(yard.pool, least="full")
    told["strict"] = strict.refusal(yard.job("add")).code
    told["brood"] = [pid for pid in await yard.output("brood") if os.path.exists(f"/proc/{pid}")]
    zygotes = [jail.opened.posture.zygote for jail in yard.pool.jails()]
    born = [pid for seen in zygotes for pid in (seen.pid, seen.status.parent)] + told["brood"]
    await yard.close()
    told["left"] = [pid for pid in born if os.path.exists(f"/proc/{pid}")]
    return told


def a_thousand(_: Tasks) -> int:
    return 1000


async def threads(yard: Any) -> int | str:
    """How many threads a call had, or how it ended when it had more than the host allows."""
    raw = await yard.run("threads", {"wanted": 200})
    told: int | str = raw.fault.code if raw.fault else json.loads(raw.reply)
    return told


async def wait_to_be_killed() -> None:
    """Tell who lives, then stand still until somebody kills this host."""
    yard: Any = Yard(state=Path(tempfile.mkdtemp()))
    for module in ("plain", "brood"):
        await yard.load(module)
    await yard.output("add", {"a": 1, "b": 2})
    brood = await yard.output("brood")
    seen = [jail.opened.posture.zygote for jail in yard.pool.jails()]
    print(json.dumps([*brood, *(pid for one in seen for pid in (one.pid, one.status.parent))]), flush=True)
    await asyncio.Event().wait()


async def soak() -> dict[str, Any]:
    """Many calls, while those who serve them, their zygote and their warden are killed at random."""
    chance, told, killed = random.Random(7), Counter[str](), set[int]()
    yard: Any = Yard(state=Path(tempfile.mkdtemp()))
    await yard.load("plain")

    async def keep_calling() -> None:
        for _ in range(CALLS // AT_ONCE):
            call = asyncio.ensure_future(yard.run("add", {"a": 1, "b": 2}))
            await asyncio.sleep(chance.random() * 0.004)
            if chance.random() < 0.2:
                killed.update(_kill_one(chance))
            raw = await call
            told[raw.fault.code if raw.fault else "completed"] += 1

    await asyncio.gather(*(keep_calling() for _ in range(AT_ONCE)))
    # On a busy machine some calls pass until whoever was killed is dead.
    async with asyncio.timeout(SECONDS_TO_DIE):
        while killed & _below():  # noqa: ASYNC110  the kernel tells nobody
            await asyncio.sleep(0.001)
    # Each may be missed by one call; of those that waited beside them, none is left then.
    for _ in range(2 * AT_ONCE):
        await yard.run("add", {"a": 2, "b": 3})
    after = await yard.output("add", {"a": 2, "b": 3})
    await yard.close()
    return {"told": dict(told), "after": after, "left": sorted(_below())}


DOORS = """
import os
from ringfence import tool
from ringfence.inside import berth
of, SAID = berth.Berths.of, []

def go_through(self, ancillary):
    ((_, _, sent),) = ancillary
    for at in range(8, len(sent), 4):
        try:
            SAID.append(os.write(int.from_bytes(sent[at : at + 4], "little"), b"HOST"))
        except OSError as failure:
            SAID.append(str(failure))
    return of(self, ancillary)

berth.Berths.of = go_through

@tool(safety="read")
def doors() -> list[str]:
    \"\"\"Say what came of every door that the host handed in.\"\"\"
    return [str(each) for each in SAID]
"""


async def doors() -> dict[str, Any]:
    """An import tries to move its host into the control group that ends with a jail."""
    folder = Path(tempfile.mkdtemp())
    (folder / "through.py").write_text(DOORS.replace("HOST", str(os.getpid())), encoding="utf-8")
    yard: Any = Yard(state=Path(tempfile.mkdtemp()))
    await yard.load("through", folder=folder)
    before, raw = _groups(), await yard.run("doors")
    told = {
        "said": json.loads(raw.reply),
        "moved": _groups() != before,
        "counted": raw.evidence["cgroup"],
        "moved by a door": _is_moved_by_a_door(yard),
    }
    await yard.close()
    return told


def _groups(pid: int | str = "self") -> str:
    return Path(f"/proc/{pid}/cgroup").read_text(encoding="ascii")


def _is_moved_by_a_door(yard: Any) -> bool:
    """Whether whoever has a door moves others through it: what the import wanted, were it handed one."""
    group = yard.pool.jails()[-1]._groups.lend()
    with subprocess.Popen(["/bin/sleep", "60"]) as other, open_doors(group) as handed_in:
        before = _groups(other.pid)
        for door in handed_in:
            os.write(door, str(other.pid).encode())
        moved = _groups(other.pid) != before
        other.kill()
    return moved


def _kill_one(chance: random.Random) -> list[int]:
    """Anybody below the fork server; gives who it was."""
    servers = _children(os.getpid())
    victims = [pid for pid in _below() if pid not in servers]
    if not victims:
        return []
    victim = chance.choice(victims)
    with suppress(ProcessLookupError):
        os.kill(victim, signal.SIGKILL)
    return [victim]


def _below() -> set[int]:
    """Every living descendant."""
    found: set[int] = set()
    fresh = _children(os.getpid())
    while fresh:
        found |= fresh
        fresh = {child for pid in fresh for child in _children(pid)} - found
    return found


def _children(pid: int) -> set[int]:
    try:
        return set(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()))
    except OSError:
        return set()


MODES: dict[str, Callable[[], Coroutine[Any, Any, Any]]] = {
    "calls": calls,
    "soak": soak,
    "wait": wait_to_be_killed,
    "doors": doors,
}

if __name__ == "__main__":
    print(json.dumps(asyncio.run(MODES[sys.argv[1]]())))
