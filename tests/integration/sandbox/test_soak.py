"""Many calls with kills at random moments, through the whole runtime: every one is answered, and nothing is left."""

# ruff: noqa: ASYNC240  a test may look at files while nothing else waits for the loop
from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from ringfence.assembly import open_runtime
from ringfence.runtime import Outcome, Session
from ringfence.sandbox.processes import Held
from tests.integration.sandbox.driver import TOOLS
from tests.integration.sandbox.family import descendants, groups

pytestmark = pytest.mark.req("SBX-9", "SBX-2")

AT_ONCE = 4
_IN_A_JAIL = 2


def config(state: Path) -> dict[str, object]:
    return {
        "version": 1,
        "tools": {"modules": ["plain"], "path": [str(TOOLS)]},
        "agents": {"ana": {"allowed_tools": ["add"]}},
        "sandbox": {"kind": "local"},
        "store": {"url": f"sqlite:///{state}/ringfence.db"},
        "audit": {"anchor": f"{state}/anchor.log", "signing_key": f"{state}/audit.key"},
    }


def jailed() -> Iterator[int]:
    """Processes below this one that live in a jail: wardens, zygotes and spares."""
    for pid in descendants():
        try:
            status = Path(f"/proc/{pid}/status").read_text()
        except OSError:
            continue
        numbers = next((line for line in status.splitlines() if line.startswith("NSpid:")), "")
        if len(numbers.split()) > _IN_A_JAIL:
            yield pid


async def one_call(session: Session, chance: random.Random) -> Outcome | None:
    """A call that is left alone, cancelled, or has somebody of its jail killed meanwhile."""
    call = asyncio.ensure_future(session.call("add", {"a": 1, "b": 2}))
    fate = chance.choice(("left alone", "left alone", "left alone", "cancelled", "killed"))
    await asyncio.sleep(chance.random() * 0.004)
    victim = kill_one(chance) if fate == "killed" else None
    if fate == "cancelled":
        call.cancel()
    try:
        return await call
    except asyncio.CancelledError:
        return None
    finally:
        if victim is not None:
            await victim.ended()
            victim.let_go()


def kill_one(chance: random.Random) -> Held | None:
    """Anybody who lives in a jail; it may have ended by itself meanwhile."""
    victims = list(jailed())
    try:
        victim = Held(chance.choice(victims)) if victims else None
    except ProcessLookupError:
        return None
    if victim is not None:
        victim.kill()
    return victim


async def soak(state: Path, *, calls: int) -> Counter[str]:
    chance = random.Random(calls)
    told: Counter[str] = Counter()
    async with open_runtime(config(state)) as runtime:
        session = runtime.session(agent="ana", user="tester")

        async def keep_calling() -> None:
            for _ in range(calls // AT_ONCE):
                outcome = await one_call(session, chance)
                told[outcome.status if outcome else "cancelled"] += 1

        await asyncio.gather(*(keep_calling() for _ in range(AT_ONCE)))
        # All victims are dead. Each may be missed by one call; of those that waited beside them, none is left then.
        for _ in range(2 * AT_ONCE):
            await session.call("add", {"a": 0, "b": 0})
        after = await session.call("add", {"a": 2, "b": 3})
        assert (after.status, after.as_dict().get("output")) == ("completed", 5), after
        assert (await runtime.audit.verify()).problems == ()
    return told


async def assert_nothing_is_left(state: Path, *, calls: int) -> None:
    mounts = Path("/proc/self/mountinfo").read_text()
    open_before, living_before = len(os.listdir("/proc/self/fd")), descendants()
    told = await soak(state, calls=calls)
    print(dict(told))
    assert told.total() == calls
    # Some came through and some were hit; how many depends on how long a jail takes to build on this machine.
    assert told["completed"] > calls // 5
    assert told["failed"] > 0
    assert descendants() == living_before
    assert groups() == set()
    assert len(os.listdir("/proc/self/fd")) == open_before
    assert Path("/proc/self/mountinfo").read_text() == mounts


async def test_nothing_is_left_after_500_calls_with_random_kills(tmp_path: Path) -> None:
    await assert_nothing_is_left(tmp_path, calls=500)


@pytest.mark.long
async def test_nothing_is_left_after_10_000_calls_with_random_kills(tmp_path: Path) -> None:
    await assert_nothing_is_left(tmp_path, calls=10_000)
