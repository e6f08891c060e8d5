"""Descriptors that come and go are heard through one that the event loop knows, and never for an owner who left."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Generator
from functools import partial

import pytest

from ringfence.sandbox.hearing import Ears

pytestmark = pytest.mark.req("SBX-1")


@pytest.fixture
def pipes() -> Generator[list[tuple[int, int]]]:
    made = [os.pipe(), os.pipe()]
    yield made
    for reading, writing in made:
        os.close(reading)
        os.close(writing)


async def _rounds(ears: Ears, number: int = 3) -> None:
    for _ in range(number):
        await asyncio.sleep(0)
    ears.close()


async def test_whoever_can_be_read_is_called_back_and_nobody_else(pipes: list[tuple[int, int]]) -> None:
    ears, heard = Ears(), list[str]()
    for (reading, _), name in zip(pipes, ("one", "other"), strict=True):
        ears.add_reader(reading, partial(heard.append, name))
    os.write(pipes[1][1], b"x")
    await _rounds(ears)
    assert set(heard) == {"other"}


async def test_one_that_is_taken_out_by_another_is_not_called_in_the_same_round(pipes: list[tuple[int, int]]) -> None:
    ears, heard = Ears(), list[int]()

    def only(mine: int, other: int) -> None:
        heard.append(mine)
        ears.remove_reader(other)
        ears.remove_reader(mine)

    (one, one_writes), (other, other_writes) = pipes
    ears.add_reader(one, lambda: only(one, other))
    ears.add_reader(other, lambda: only(other, one))
    os.write(one_writes, b"x")
    os.write(other_writes, b"x")
    await _rounds(ears)
    assert len(heard) == 1


async def test_a_number_that_has_a_new_owner_is_not_called_for_what_its_old_one_had_to_say(
    pipes: list[tuple[int, int]],
) -> None:
    ears, heard = Ears(), list[str]()
    (one, one_writes), (other, other_writes) = pipes

    def succeed(mine: int, theirs: int) -> None:
        """Whoever is called first gives the other's number to somebody who has nothing to hear yet."""
        heard.append("first")
        ears.remove_reader(mine)
        ears.remove_reader(theirs)
        os.read(theirs, 1)
        ears.add_reader(theirs, lambda: heard.append("nothing was said"))

    ears.add_reader(one, lambda: succeed(one, other))
    ears.add_reader(other, lambda: succeed(other, one))
    os.write(one_writes, b"x")
    os.write(other_writes, b"x")
    await _rounds(ears)
    assert heard == ["first"]


@pytest.mark.req("SBX-10")
async def test_one_that_fails_each_time_is_told_of_and_keeps_nobody_from_being_heard(
    pipes: list[tuple[int, int]],
) -> None:
    """Both fail, so that whoever comes first in a round stands in the other's way."""
    ears, heard, told = Ears(), list[int](), list[str]()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(repr(context["exception"])))

    def failing(mine: int) -> None:
        heard.append(mine)
        raise RuntimeError

    for reading, writing in pipes:
        ears.add_reader(reading, partial(failing, reading))
        os.write(writing, b"x")
    await _rounds(ears)
    assert (set(heard), told) == ({reading for reading, _ in pipes}, ["RuntimeError()"] * len(heard))


async def test_what_was_never_put_in_can_be_taken_out(pipes: list[tuple[int, int]]) -> None:
    ears = Ears()
    ears.remove_reader(pipes[0][0])
    await _rounds(ears)
    assert os.fstat(pipes[0][0])
