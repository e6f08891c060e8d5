"""A tool keeps rows from one call to the next, by real calls in real jails."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from ringfence.assembly.assemble import utc_now
from ringfence.runtime import Completed, Failed, Refused
from tests.acceptance.storage.pantry import KEPT, Pantry, opened, step
from tests.cluster import Cluster

pytestmark = pytest.mark.req("STO-1", "CON-12")


@pytest.fixture
async def pantry(tmp_path: Path) -> AsyncIterator[Pantry]:
    async with opened(tmp_path) as pantry:
        yield pantry


async def test_a_row_outlives_the_call_the_session_and_the_process(tmp_path: Path) -> None:
    value: dict[str, object] = {"ü": [1, 2.5, None, True, "\x00 \u2028"], "deep": [[[[]]]]}
    async with opened(tmp_path) as pantry:
        assert await pantry.does(step("set", "k", value, scope="tool"), step("get", "k", scope="tool")) == [None, value]
        assert await pantry.does(step("get", "k", scope="tool")) == [value]
    async with opened(tmp_path) as pantry:
        assert await pantry.does(step("get", "k", scope="tool")) == [value]


async def test_nothing_there_is_the_default_and_a_null_is_a_value(pantry: Pantry) -> None:
    assert await pantry.does(
        step("get", "k"),
        step("get", "k", 7),
        step("set", "k", None),
        step("get", "k", 7),
        step("delete", "k"),
        step("delete", "k"),
        step("get", "k", 7),
        tool="lone",
    ) == [None, 7, None, None, True, False, 7]


async def test_keys_are_listed_by_prefix_however_many_there_are(tmp_path: Path) -> None:
    async with opened(tmp_path, storage={**KEPT, "rows": 2_000}) as pantry:
        for start in range(0, 1_100, 220):
            await pantry.does(*(step("set", f"n/{number:04}", 0) for number in range(start, start + 220)), tool="lone")
        (found, some, none) = await pantry.does(step("list"), step("list", "n/09"), step("list", "x"), tool="lone")
    assert found == [f"n/{number:04}" for number in range(1_100)]
    assert some == [f"n/09{number:02}" for number in range(100)]
    assert none == []


async def test_a_row_is_gone_when_its_time_is_over_and_swept_from_the_store(tmp_path: Path) -> None:
    late = timedelta()

    def now() -> datetime:
        return utc_now() + late

    async with opened(tmp_path, now=now) as pantry:
        await pantry.does(step("set", "k", 1, ttl=60), step("set", "good", 1), tool="lone")
        assert await pantry.does(step("get", "k"), step("list"), tool="lone") == [1, ["good", "k"]]
        late = timedelta(seconds=61)
        assert await pantry.does(step("get", "k"), step("list"), tool="lone") == [None, ["good"]]
        async with asyncio.timeout(20):
            while pantry.rows() != ["good"]:
                await pantry.does(step("get", "good"), tool="lone")


async def test_a_swap_holds_where_get_would_give_what_is_expected(pantry: Pantry) -> None:
    assert await pantry.does(
        step("compare_and_set", "k", 1, 2),
        step("compare_and_set", "k", None, {"b": 1, "a": 2}),
        step("compare_and_set", "k", {"a": 2, "b": 1}, "next"),
        step("compare_and_set", "k", None, 5),
        step("get", "k"),
        tool="lone",
    ) == [False, True, True, False, "next"]


async def test_an_async_tool_asks_many_things_at_once(pantry: Pantry) -> None:
    await pantry.does(*(step("set", f"k{number}", number) for number in range(30)), tool="later")
    assert await pantry.does(*(step("get", f"k{number}") for number in range(30)), tool="later") == list(range(30))
    swaps = [step("compare_and_set", "one", None, number) for number in range(10)]
    assert sorted(await pantry.does(*swaps, tool="later")) == [False] * 9 + [True]


async def test_an_answer_that_nobody_waits_for_is_no_other_questions_answer(pantry: Pantry) -> None:
    outcome = await pantry.call("hasty", {})
    assert isinstance(outcome, Completed), outcome
    assert outcome.output == "yes"
    assert outcome.effects["storage"]["writes"] == 22


async def test_threads_of_a_tool_share_its_storage_in_turn(pantry: Pantry) -> None:
    outcome = await pantry.call("threads", {})
    assert isinstance(outcome, Completed), outcome
    assert outcome.output == 8


async def test_a_tool_with_several_scopes_says_which(pantry: Pantry) -> None:
    (said,) = await pantry.does(step("get", "k"))
    assert "say which by `scope=`, one of `tool`, `session`, `agent`" in said["message"]


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (step("set", "", 1), "1 to 512 bytes"),
        (step("set", "k" * 513, 1), "1 to 512 bytes"),
        (step("set", "ü" * 257, 1), "1 to 512 bytes"),
        (step("set", 5, 1), "1 to 512 bytes"),
        (step("set", "a\nb", 1), "control characters"),
        (step("set", "k", 1, ttl=0), "`ttl` is a number of seconds above 0"),
        (step("set", "k", 1, ttl=-1), "`ttl`"),
        (step("set", "k", 1, ttl="1h"), "`ttl`"),
        (step("set", "k", 1, ttl=True), "`ttl`"),
        (step("set", "k", 1, ttl=1e12), "`ttl`"),
        (step("set", "k", 2**60), "beyond"),
        (step("get", "\ud800"), "keeps JSON alone"),
    ],
    ids=str,
)
async def test_what_cannot_be_kept_is_an_error_that_says_so(pantry: Pantry, made: list[object], says: str) -> None:
    said, after = await pantry.does(made, step("list"), tool="lone")
    assert (said["code"], after) == ("tool_error", [])
    assert says in said["message"]
    assert await pantry.noticed() == []


async def test_each_quota_is_held_and_says_what_is_full(pantry: Pantry) -> None:
    most = KEPT["value_kb"] * 1024
    said = await pantry.does(step("set", "k", "x" * (most - 1)), step("set", "k", "x" * (most - 2)), tool="lone")
    assert said[0]["code"] == "storage_quota"
    assert f"at most {most} bytes" in said[0]["message"]
    assert said[0]["remedy"]
    assert said[1] is None
    (again,) = await pantry.does(step("set", "l", "x" * (most - 2)), tool="lone")
    assert f"more than {KEPT['scope_kb'] * 1024}" in again["message"]
    rows = [step("set", f"{number}", 0, scope="session") for number in range(KEPT["rows"] + 1)]
    *kept, more = await pantry.does(*rows)
    assert kept == [None] * KEPT["rows"]
    assert f"{KEPT['rows']} rows" in more["message"]
    assert await pantry.noticed() == []


async def test_a_quota_that_the_tool_does_not_notice_ends_its_call(pantry: Pantry) -> None:
    outcome = await pantry.call("full", {})
    assert isinstance(outcome, Failed), outcome
    assert outcome.code == "storage_quota"
    assert outcome.remedy == "delete rows that are no longer needed"


@pytest.mark.req("SBX-8")
async def test_the_effects_count_what_was_read_and_written_and_show_no_value(pantry: Pantry) -> None:
    steps = [
        step("set", "k", "private-words"),
        step("get", "k"),
        step("compare_and_set", "k", "other", 1),
        step("compare_and_set", "k", "private-words", 2),
        step("delete", "absent"),
        step("delete", "k"),
        step("list"),
        step("set", "x" * 600, 1),
    ]
    outcome = await pantry.call("lone", {"steps": json.dumps(steps)})
    assert isinstance(outcome, Completed), outcome
    storage = outcome.effects["storage"]
    refusal = {"code": "tool_error", "reason": "a key of storage is a text of 1 to 512 bytes", "weight": "ordinary"}
    written = len('k"private-words"') + len("k2")
    assert storage == {"reads": 2, "writes": 3, "bytes_written": written, "refusals": [refusal]}
    (completed,) = await pantry.trail("tool_completed")
    assert completed["body"]["effects"]["storage"] == storage


@pytest.mark.req("CON-9", "IDM-3")
@pytest.mark.parametrize(("key", "code"), [("k", "in_doubt"), ("", "failed")])
async def test_a_call_that_kept_something_and_failed_is_in_doubt(pantry: Pantry, key: str, code: str) -> None:
    outcome = await pantry.call("breaks", {"key": key})
    assert isinstance(outcome, Failed), outcome
    assert outcome.effects["storage"]["writes"] == (1 if key else 0)
    assert pantry.status(outcome) == code


async def test_a_tool_that_declares_no_storage_has_none(pantry: Pantry) -> None:
    outcome = await pantry.call("bare", {})
    assert isinstance(outcome, Failed), outcome
    assert (outcome.code, "declares no `Storage` need" in outcome.message) == ("not_available", True)


@pytest.mark.req("CON-9")
@pytest.mark.parametrize(("step_", "attempts"), [(0, 3), (1, 1)])
async def test_a_tool_that_reads_is_tried_again_unless_it_kept_something(
    pantry: Pantry, step_: int, attempts: int
) -> None:
    outcome = await pantry.call("flaky", {"step": step_})
    assert isinstance(outcome, Failed), outcome
    assert len(outcome.effects.get("earlier", ())) == attempts - 1


@pytest.mark.req("IDM-3")
async def test_whoever_is_asked_about_a_call_in_doubt_reads_its_rows_and_changes_none(pantry: Pantry) -> None:
    session = pantry.runtime.session(agent="ana")
    first = await session.call("sends", {"text": "hello"}, idempotency_key="k")
    assert isinstance(first, Failed), first
    again = await session.call("sends", {"text": "hello"}, idempotency_key="k")
    assert isinstance(again, Completed), again
    assert again.output == "hello"
    assert len(pantry.rows()) == 1


PROGRAM = """---
kind: tool
schema_version: 1
name: keeper
version: 1
safety_class: read
permission_level: none
entrypoint: run
needs: {storage: [tool]}
input_schema: {type: object, properties: {}, additionalProperties: false}
output_schema: {type: object, properties: {}, additionalProperties: false}
---
A program that would keep rows.
"""


@pytest.mark.req("SBX-7")
async def test_a_program_that_is_a_tool_is_refused_storage_before_it_starts(tmp_path: Path) -> None:
    place = tmp_path / "keeper"
    place.mkdir()
    (place / "TOOL.md").write_text(PROGRAM)
    (place / "run").write_text("#!/bin/sh\necho '{}'\n")
    async with opened(tmp_path, tools={"folders": [str(place)]}) as pantry:
        outcome = await pantry.call("keeper", {})
        assert isinstance(outcome, Refused), outcome
        assert (outcome.code, "a program has no `ctx`" in outcome.message) == ("not_available", True)


async def test_every_row_of_a_call_that_was_killed_is_counted(tmp_path: Path) -> None:
    async with opened(tmp_path, storage={**KEPT, "rows": 100_000, "agent_kb": 100_000, "scope_kb": 100_000}) as pantry:
        outcome = await pantry.call("forever", {})
        assert isinstance(outcome, Failed), outcome
        assert outcome.code in ("wall_limit", "storage_quota")
        assert outcome.effects["storage"]["writes"] == len(pantry.rows()) > 10
        assert pantry.status(outcome) == "in_doubt"


async def test_a_number_comes_back_as_what_it_was(pantry: Pantry) -> None:
    numbers = [0, -1, 2**53 - 1, 0.1, 1e20, 5e-324, 1.5]
    assert await pantry.does(step("set", "k", numbers), step("get", "k"), tool="lone") == [None, numbers]
    assert await pantry.does(step("compare_and_set", "k", numbers, 0), tool="lone") == [True]


@pytest.mark.req("DB-1")
async def test_rows_are_kept_in_a_server_alike(tmp_path: Path, cluster: Cluster, database: str) -> None:
    async with opened(tmp_path, store={"url": cluster.url(database, user="person")}) as pantry:
        first = await pantry.does(
            step("set", "k", {"a": [1]}, scope="agent"),
            step("compare_and_set", "k", {"a": [1]}, 2, scope="agent"),
            step("list", scope="agent"),
            step("set", "x" * 600, 1, scope="agent"),
        )
        assert first[:3] == [None, True, ["k"]]
        assert first[3]["code"] == "tool_error"
        assert await pantry.does(step("get", "k", scope="agent"), tool="also") == [2]
        assert await pantry.does(step("get", "k", scope="agent"), agent="ben") == [None]
        *_, more = await pantry.does(*(step("set", f"{n}", 0, scope="tool") for n in range(KEPT["rows"] + 1)))
        assert more["code"] == "storage_quota"


async def test_storage_goes_together_with_programs_and_files(pantry: Pantry) -> None:
    outcome = await pantry.call("counts", {"text": "one two three"})
    assert isinstance(outcome, Completed), outcome
    assert outcome.output == [3, 3]
    assert outcome.effects["storage"] == {"reads": 2, "writes": 1, "bytes_written": len("words3")}
