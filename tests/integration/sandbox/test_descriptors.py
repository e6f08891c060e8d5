"""A host may open so many files and no more: jails share what there is, and whoever finds none left is told so."""

from __future__ import annotations

import os
import resource
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from tests.integration.sandbox.driver import Yard
from tests.integration.sandbox.test_endings import descendants, until

pytestmark = [pytest.mark.asyncio, pytest.mark.req("SBX-10")]

AGENTS = [f"agent-{number}" for number in range(20)]


def held() -> int:
    return len(os.listdir("/proc/self/fd")) - 1  # less the one that lists them


@contextmanager
def at_most(descriptors: int) -> Generator[None]:
    """As after `ulimit -n`: what is open stays open, and nothing is opened beyond it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class Fillers:
    """Descriptors of nothing in particular, in the place of all that are free."""

    def __init__(self) -> None:
        self._held: list[int] = []

    def fill(self) -> None:
        with suppress(OSError):
            while True:
                self._held.append(os.dup(2))

    def close(self) -> None:
        for filler in self._held:
            os.close(filler)


@contextmanager
def none_left() -> Generator[Fillers]:
    """Nothing more can be opened; what is closed meanwhile is free until it is filled again."""
    with closing(Fillers()) as fillers, at_most(max(map(int, os.listdir("/proc/self/fd"))) + 1):
        fillers.fill()
        yield fillers


async def test_more_agents_are_served_than_descriptors_would_reach_for(tmp_path: Path) -> None:
    yard = Yard(state=tmp_path)
    await yard.load("plain")
    with at_most(256):
        for _ in range(4):  # as many as there are spares at most
            for agent in AGENTS:
                assert await yard.output("add", {"a": 1, "b": 2}, agent=agent) == 3
                assert held() < 256
        assert 1 < len(yard.pool.jails()) < len(AGENTS)
    await yard.close()
    assert descendants() == set()


async def test_a_host_without_descriptors_says_what_is_missing(tmp_path: Path) -> None:
    yard = Yard(state=tmp_path)
    await yard.load("plain")
    before = held()
    with none_left():
        code, message = await yard.fault("add", {"a": 1, "b": 2})
    assert (code, "`ulimit -n`" in message) == ("not_available", True)
    assert await yard.output("add", {"a": 1, "b": 2}) == 3
    await yard.close()
    assert held() < before
    assert descendants() == set()


async def test_a_jail_outlives_the_want_of_descriptors(tmp_path: Path) -> None:
    yard = Yard(state=tmp_path)
    await yard.load("plain")
    for _ in range(4):
        raw = await yard.run("add", {"a": 1, "b": 2})
    warden = raw.evidence["process"]["parent"]
    (jail,) = [each for each in yard.pool.jails() if each.opened.posture.zygote.status.parent == warden]
    codes: list[str] = []
    with none_left() as fillers:
        while not codes or not codes[-1]:
            raw = await yard.run("add", {"a": 1, "b": 2})
            codes.append(raw.fault.code if raw.fault else "")
            fillers.fill()
    assert codes[-1] == "not_available"
    assert await yard.output("add", {"a": 1, "b": 2}) == 3
    assert jail in yard.pool.jails()
    assert jail.failure is None
    await until(lambda: jail.busy == 0)
    await yard.close()
    assert descendants() == set()
