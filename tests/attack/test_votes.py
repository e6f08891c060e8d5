"""Attacks 147 to 153: votes that should not count, approvals for something else, and asking until somebody nods."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ringfence.assembly import open_runtime
from ringfence.assembly.assemble import utc_now
from ringfence.errors import ConfigInvalid, VoteRefused
from ringfence.runtime import Waiting
from tests.acceptance.spine.household import (
    Clock,
    House,
    assert_completed,
    assert_refused,
    assert_waiting,
    config,
    open_house,
    rule,
    rules,
)
from tests.architecture.source import ROOT

PAY = ("pay", {"to": "shop", "amount": 5})


def vote_by_sql(tmp_path: Path, approval: Any, voter: str) -> None:
    with closing(sqlite3.connect(tmp_path / "state/ringfence.db", isolation_level=None)) as connection:
        connection.execute(
            "INSERT INTO votes (approval_id, voter, digest, decision, reason, door, at) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (approval.id, voter, approval.digest, "approve", None, "sql", "2026-03-01T12:00:00.000000+00:00"),
        )


def raced(folder: Path, invocation_id: str) -> list[list[str]]:
    """What two processes say that resume the same call at the same moment."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    command = [sys.executable, "-m", "tests.attack.resume_once", str(folder), invocation_id]
    racers = [
        subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    return [racer.communicate("go\n", timeout=60)[0].split() for racer in racers]


@pytest.mark.req("APR-4", "DB-2")
async def test_147_proposers_and_second_votes_are_refused_also_by_raw_sql(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        asked = assert_waiting(await house.call("grant_access", {"person": "x"}))
        (approval,) = await house.runtime.approvals.list()
        for proposer in ("ulla", "carol"):
            with pytest.raises(VoteRefused):
                await house.vote(asked, proposer)
            with pytest.raises(sqlite3.IntegrityError, match="vote_refused"):
                vote_by_sql(tmp_path, approval, proposer)
        vote_by_sql(tmp_path, approval, "alice")  # the control: an approver's row is admitted
        with pytest.raises(sqlite3.IntegrityError, match="vote_refused"):
            vote_by_sql(tmp_path, approval, "alice")
        with pytest.raises(VoteRefused):
            await house.vote(asked, "alice")


@pytest.mark.req("APR-2", "DB-2")
async def test_148_what_was_approved_cannot_be_changed_under_the_vote(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        asked = await house.call(*PAY, id="s1")
        await house.vote(asked, "alice")
        with closing(sqlite3.connect(tmp_path / "state/ringfence.db", isolation_level=None)) as connection:
            for change in (
                'UPDATE invocations SET arguments = \'{"amount":5000,"to":"eve"}\'',
                "UPDATE approvals SET card = '{}'",
                "UPDATE approvals SET digest = 'x'",
                "UPDATE votes SET voter = 'dan'",
            ):
                with pytest.raises(sqlite3.IntegrityError):
                    connection.execute(change)
        assert_completed(await house.session(id="s1").resume(asked.invocation_id))


@pytest.mark.req("APR-3")
async def test_149_one_approval_is_used_once_by_two_processes_at_once(tmp_path: Path) -> None:
    async with open_house(config(tmp_path), clock=Clock(at=utc_now())) as house:  # as the other processes have it
        asked = await house.call(*PAY, id="s1")
        await house.vote(asked, "alice")
    answers = await asyncio.to_thread(raced, tmp_path, asked.invocation_id)
    assert sorted(answers) in (
        [["0", "approval_void"], ["1", "completed"]],
        [["0", "in_flight"], ["1", "completed"]],
        [["0", "completed"], ["1", "completed"]],
    )


@pytest.mark.req("APR-3")
async def test_149_one_approval_is_used_up_by_its_run_its_expiry_or_another_session(tmp_path: Path) -> None:
    async with open_house(config(tmp_path, approvals={"expire": "1h"})) as house:
        session = house.session()
        asked = await session.call(*PAY)
        await house.vote(asked, "alice")
        assert_refused(await house.session().resume(asked.invocation_id), "approval_void")
        assert_completed(await session.resume(asked.invocation_id))
        assert_completed(await session.resume(asked.invocation_id))
        assert assert_completed(await session.call(*PAY)).invocation_id == asked.invocation_id
        session.heard("pay them once more")
        assert assert_waiting(await session.call(*PAY)).invocation_id != asked.invocation_id
        late = await session.call("pay", {"to": "shop", "amount": 6})
        await house.vote(late, "alice")
        house.clock.forward(timedelta(hours=2))
        assert_refused(await session.resume(late.invocation_id), "approval_expired")
        assert house.ran == ["pay"]


@pytest.mark.req("APR-2")
async def test_150_other_arguments_or_another_tool_are_a_new_call_from_the_start(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        session = house.session()
        asked = await session.call("publish", {"text": "x"})
        await house.vote(asked, "alice")
        for tool, arguments in (("publish", {"text": "y"}), ("pay", {"to": "x", "amount": 1})):
            assert assert_waiting(await session.call(tool, arguments)).approval_id != asked.approval_id
        assert house.ran == []
        assert_completed(await session.call("publish", {"text": "x"}))


@pytest.mark.req("APR-2")
@pytest.mark.parametrize(
    "text", ["pay \u202eeve", "\U000e0041\U000e0042", "раураl", "<b onload=x>", "a\n\nb\r\x00", "x" * 8_192]
)
async def test_151_the_card_holds_the_bytes_that_will_run(tmp_path: Path, text: str) -> None:
    async with open_house(config(tmp_path)) as house:
        session = house.session()
        asked = await session.call("publish", {"text": text})
        (approval,) = await house.runtime.approvals.list()
        await house.vote(asked, "alice")
        assert_completed(await session.resume(asked.invocation_id))
        (job,) = house.sandbox.jobs
    assert approval.card["arguments"].encode() == job.arguments
    assert job.arguments.decode().count(text[:1])


@pytest.mark.req("APR-4", "POL-2", "VIEW-1")
async def test_152_what_is_missing_or_broken_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_house(config(tmp_path / "a", people={"carol": {"roles": ["viewer"]}})) as house:
        assert_refused(await house.call(*PAY), "no_approvers")
    broken = rules(rule("allow", tool="echo", when={"args.text": {"lt": 1}}))
    async with open_house(config(tmp_path / "b", policy=broken)) as house:
        assert_refused(await house.call("echo", {"text": "x"}), "policy_denied")
    (tmp_path / "empty.yaml").write_text("")
    for file in ("empty.yaml", "missing.yaml", "."):
        with pytest.raises(ConfigInvalid):
            async with open_runtime(tmp_path / file):
                pass


@pytest.mark.req("APR-5")
@pytest.mark.parametrize(
    "again",
    [
        {"text": "Pay the shop", "weight": 1},
        {"weight": 1, "text": "Pay the shop"},
        {"text": "Pay the shop", "weight": 1.0},
        {"text": "Pay the shop"},
        {"text": "  pay THE\nshop "},
        {"text": "Pay the shop!"},
        {"text": "Pay the \u200bshop"},
        {"text": "Pаy thе shоp"},
        {"text": "Ｐａｙ the shop"},
    ],
    ids=["same", "order", "float", "default", "space_and_case", "stop", "zero_width", "cyrillic", "full_width"],
)
async def test_153_a_rejected_call_is_not_asked_again_in_other_clothes(tmp_path: Path, again: dict[str, Any]) -> None:
    async with open_house(config(tmp_path)) as house:
        session = house.session(id="s1")
        asked = await session.call("publish", {"text": "Pay the shop", "weight": 1})
        await house.vote(asked, "alice", "reject", "we owe them nothing")
        told = assert_refused(await session.call("publish", again), "approval_rejected")
        assert "we owe them nothing" in told.message
        assert "do not retry" in told.for_model()
        assert_refused(await session.call("publish", again, idempotency_key="new"), "approval_rejected")
        assert await house.runtime.approvals.list() == []
        assert_waiting(await house.session(id="s2").call("publish", again))  # the control: another session
    async with open_house(config(tmp_path)) as another_process:
        session = another_process.session(id="s1")
        assert_waiting(await session.call("publish", {"text": "Pay the shop 10"}))  # the control: another call is asked
        assert_refused(await session.call("publish", again), "approval_rejected")


@pytest.mark.req("APR-5")
@pytest.mark.parametrize("pause", ["none", "another_process"])
async def test_153_the_third_try_at_a_rejected_call_stops_the_sessions_calls_to_that_tool(
    tmp_path: Path, pause: str
) -> None:
    other = {"text": "something else"}
    async with open_house(config(tmp_path)) as house:
        session = house.session(id="s1")
        asked = await session.call("publish", {"text": "x"})
        await house.vote(asked, "alice", "reject", "no")
        for text in ("x", "X"):
            assert_refused(await session.call("publish", {"text": text}), "approval_rejected")
        early = assert_waiting(await session.call("publish", other))  # the control: two in a row stop nothing
        assert_refused(await session.call("publish", {"text": "x."}), "approval_rejected")
        if pause == "none":
            await assert_stopped(house, early=early)
    if pause == "another_process":
        async with open_house(config(tmp_path)) as house:
            await assert_stopped(house, early=early)


async def assert_stopped(house: House, *, early: Waiting) -> None:
    """The session gets nowhere with the tool, whatever it asks; a person's yes lets it go on."""
    session = house.session(id="s1")
    for text in ("a", "b", "x"):
        assert_refused(await session.call("publish", {"text": text}), "approval_rejected")
    assert [each.id for each in await house.runtime.approvals.list()] == [early.approval_id]
    assert_completed(await session.call("echo", {"text": "another tool"}))
    assert_waiting(await house.session(id="s2").call("publish", {"text": "another session"}))
    assert house.ran == ["echo"]
    await house.vote(early, "alice")
    assert_waiting(await session.call("publish", {"text": "c"}))


@pytest.mark.req("APR-5")
async def test_153_three_rejections_in_a_row_stop_allowed_calls_of_the_tool_too(tmp_path: Path) -> None:
    large = rules(rule("approve", tool="echo", when={"args.text": {"glob": "large*"}}))
    async with open_house(config(tmp_path, policy=large)) as house:
        session = house.session()
        for n in range(3):
            assert_completed(await session.call("echo", {"text": "small"}))
            asked = await session.call("echo", {"text": f"large {n}"})
            await house.vote(asked, "alice", "reject", "no")
        stopped = [
            assert_refused(await session.call("echo", {"text": text}), "approval_rejected") for text in ("small", "y")
        ]
        assert {"no more calls of `echo`" in each.message for each in stopped} == {True}
        assert house.ran == ["echo"] * 3


@pytest.mark.req("APR-5")
async def test_153_an_approval_in_between_begins_the_count_anew(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        session = house.session()
        for n, word in enumerate(("reject", "reject", "approve", "reject", "reject")):
            asked = await session.call("publish", {"text": f"text {n}"})
            await house.vote(asked, "alice", word, "a reason")
        assert_waiting(await session.call("publish", {"text": "one more"}))
