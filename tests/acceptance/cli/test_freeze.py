"""The stop button between real processes: one runs a tool in a real jail, another freezes it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime
from typing import IO, Any

import pytest

from tests.acceptance.cli.typed import ENVIRONMENT, PROGRAM, Shop

pytestmark = pytest.mark.req("OPS-8", "OPS-1")

SLOW = '''

@tool(safety="read", limits=Limits(wall_seconds=60))
def linger(name: str) -> str:
    """Take a minute."""
    import time

    time.sleep(50)
    return name
'''


def started(shop: Shop, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [PROGRAM, *words], cwd=shop.folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def events(lines: IO[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        yield json.loads(line)


def until(lines: Iterator[dict[str, Any]], kind: str, count: int = 1) -> list[dict[str, Any]]:
    """The events up to so many of a kind, as they come."""
    seen: list[dict[str, Any]] = []
    for each in lines:
        seen.append(each)
        if sum(event["kind"] == kind for event in seen) == count:
            return seen
    raise AssertionError(f"the trail ended without {kind}")


def time_of(event: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(event["at"])


@pytest.fixture
def slow_shop(new_shop: Shop) -> Shop:
    new_shop.edit(
        "tools.py",
        "from ringfence import Context, Network, tool",
        "from ringfence import Context, Limits, Network, tool",
    )
    file = new_shop.folder / "tools.py"
    file.write_text(file.read_text() + SLOW)
    new_shop.edit("ringfence.yaml", "wall_seconds: 30", "wall_seconds: 60")
    new_shop.edit("ringfence.yaml", "draft_reply, refund]", "draft_reply, refund, linger]")
    assert new_shop.typed("check", "--accept", "--as", "bob").code in (0, 6)
    return new_shop


def test_calls_that_run_in_other_processes_end_within_a_second_of_the_freeze(slow_shop: Shop) -> None:
    waiting = slow_shop.asked(900)
    with ExitStack() as stack:
        trail = stack.enter_context(started(slow_shop, "audit", "tail", "--follow", "-n", "200", "--json"))
        stack.callback(trail.kill)
        callers = [started(slow_shop, "call", "ana", "linger", f'{{"name": "{n}"}}', "--json") for n in (1, 2)]
        assert trail.stdout is not None
        coming = events(trail.stdout)
        until(coming, "tool_started", 2)
        frozen = slow_shop.typed("freeze", "--as", "bob", "--because", "an incident", "--json")
        ended = until(coming, "tool_failed", 2)
        outcomes = [json.loads(caller.communicate(timeout=60)[0]) for caller in callers]
    (freeze,) = [each for each in ended if each["kind"] == "frozen"]
    late = [time_of(each) - time_of(freeze) for each in ended if each["kind"] == "tool_failed"]
    assert [(each["status"], each["code"]) for each in outcomes] == [("failed", "frozen")] * 2
    assert max(late).total_seconds() < 1, late
    assert frozen.document["void"] == [waiting["invocation_id"]]
    assert slow_shop.typed("call", "ana", "greet", '{"name": "x"}', "--json").document["code"] == "frozen"
    assert slow_shop.typed("approvals", "approve", waiting["approval_id"], "--as", "alice").code == 4
    assert slow_shop.typed("calls", "resume", waiting["invocation_id"], "--json").document["code"] == "frozen"
    assert slow_shop.typed("unfreeze", "--as", "bob").code == 0
    assert slow_shop.typed("call", "ana", "greet", '{"name": "x"}').code == 0
    assert slow_shop.typed("audit", "verify").code == 0


def test_a_freeze_says_what_it_did_how_to_lift_it_and_is_listed(shop: Shop) -> None:
    assert shop.typed("freeze", "--list").out == "nothing is frozen\n"
    came = shop.typed("freeze", "--tool", "refund", "--as", "bob", "--because", "an incident")
    assert came.code == 0
    assert came.out.splitlines()[0] == "frozen: tool `refund`"
    assert "ringfence unfreeze --tool refund" in came.out
    (listed,) = shop.json("freeze", "--list")["freezes"]
    assert (listed["tool"], listed["by"], listed["because"]) == ("refund", "bob", "an incident")
    assert "an incident" in shop.typed("freeze", "--list").out
    refused = shop.typed("call", "ana", "refund", '{"order": "A-1001", "amount_cents": 5}', "--json")
    assert (refused.code, refused.document["code"]) == (4, "frozen")
    assert shop.typed("call", "ana", "greet", '{"name": "x"}').code == 0
    assert shop.json("unfreeze", "--tool", "refund", "--as", "bob") == {
        "agent": None,
        "tool": "refund",
        "still_frozen": [],
    }


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("freeze", "--as", "alice"), 4, "error[operator_required]: `alice` does not have the role `operator`"),
        (("unfreeze", "--as", "carol"), 4, "error[operator_required]: `carol` does not have the role `operator`"),
        (("freeze", "--tool", "refnd", "--as", "bob"), 2, "error[misuse]: there is no tool `refnd`"),
        (("freeze", "--agent", "anna", "--as", "bob"), 2, "error[misuse]: there is no agent `anna`"),
        (("freeze", "--agent", "ana", "--tool", "refund", "--as", "bob"), 2, "error[misuse]: a freeze is of one agent"),
        (("unfreeze", "--as", "bob"), 2, "error[misuse]: everything is not frozen"),
    ],
)
def test_a_freeze_that_makes_no_sense_is_refused_and_stops_nothing(
    shop: Shop, words: tuple[str, ...], code: int, said: str
) -> None:
    came = shop.typed(*words)
    assert came.code == code
    assert came.err.startswith(said)
    assert shop.json("freeze", "--list")["freezes"] == []


@pytest.mark.req("APR-6")
def test_a_request_whose_time_is_over_is_refused_by_whichever_command_comes_next(shop: Shop) -> None:
    shop.edit("ringfence.yaml", "expire: 24h", "expire: 1s")
    asked = shop.asked(900)
    with started(shop, "audit", "tail", "--follow", "-n", "50", "--json") as trail:
        assert trail.stdout is not None
        (*_, resolved) = until(events(trail.stdout), "approval_resolved")
        trail.kill()
    assert (resolved["invocation_id"], resolved["body"]["status"]) == (asked["invocation_id"], "expired")
    assert shop.typed("approvals", "list").out == "nothing waits for a vote\n"
    assert shop.typed("approvals", "approve", asked["approval_id"], "--as", "alice").code == 4
    came = shop.typed("calls", "resume", asked["invocation_id"], "--json")
    assert (came.code, came.document["code"]) == (4, "approval_expired")
