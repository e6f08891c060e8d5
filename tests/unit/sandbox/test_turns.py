"""Calls are bounded, the queue is bounded, and agents take turns."""

from __future__ import annotations

import asyncio

import pytest

from ringfence.errors import CallRefused
from ringfence.sandbox.turns import Turns

pytestmark = pytest.mark.req("SBX-10")


async def drain(turns: Turns, tasks: list[asyncio.Task[None]], *, order: list[str]) -> list[str]:
    while not all(task.done() for task in tasks):
        turns.pass_on()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    return order


async def test_one_agent_s_queue_does_not_hold_up_another_s() -> None:
    turns, order = Turns(running=1, waiting=10), list[str]()
    await turns.take("first")

    async def call(agent: str) -> None:
        await turns.take(agent)
        order.append(agent)

    tasks = [asyncio.ensure_future(call(agent)) for agent in ("ana", "ana", "ana", "ben", "cid", "ben")]
    await asyncio.sleep(0)
    assert await drain(turns, tasks, order=order) == ["ana", "ben", "cid", "ana", "ben", "ana"]


async def test_a_full_queue_refuses_at_once() -> None:
    turns = Turns(running=1, waiting=0)
    await turns.take("ana")
    with pytest.raises(CallRefused) as refused:
        await turns.take("ana")
    assert refused.value.code == "queue_full"


async def test_whoever_stops_waiting_leaves_the_queue() -> None:
    turns = Turns(running=1, waiting=5)
    await turns.take("ana")
    waiting = asyncio.ensure_future(turns.take("ben"))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert turns.waiting == 0
    turns.pass_on()
    await turns.take("cid")


async def test_a_turn_that_came_in_the_moment_of_cancelling_is_not_lost() -> None:
    turns = Turns(running=1, waiting=5)
    await turns.take("ana")
    waiting = asyncio.ensure_future(turns.take("ben"))
    await asyncio.sleep(0)
    turns.pass_on()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await asyncio.wait_for(turns.take("cid"), timeout=1)
    assert turns.waiting == 0
