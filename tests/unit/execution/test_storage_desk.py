"""Whatever a jail asks of its desk is answered within its grant, and what may have been written is counted."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ringfence import Limits, Storage, tool
from ringfence.approvals.warrant import Warrant
from ringfence.contract.call import Shape
from ringfence.errors import CallFailed, CallRefused, Misuse, TrailUnavailable
from ringfence.execution import storage_desk
from ringfence.execution.sandbox import Job
from ringfence.execution.storage import Label, Namespace, Row, StorageQuota, Writing, namespace_of
from ringfence.execution.storage_desk import StorageDesks
from ringfence.execution.strongbox import Strongbox
from ringfence.policy.grant import Grant
from ringfence.registry.pins import Trust
from ringfence.registry.registry import RegisteredTool

pytestmark = pytest.mark.req("STO-1")
AT = datetime(2030, 1, 1, tzinfo=UTC)


@tool(safety="write", idempotency="optional", needs=[Storage("tool"), Storage("session")])
def keep(text: str) -> str:
    """Keep a text."""
    return text


class Shelf:
    """Rows that do what the test says, and remember who asked for what."""

    def __init__(self, *, put: Callable[[], None] = lambda: None) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self._put = put

    async def get(self, space: Namespace, key: str) -> Row | None:
        self.asked.append(("get", space, key))
        return Row(value='{"a":1}', label=Label(tool="keep", invocation_id="i"), written_at=AT, expires_at=None)

    async def put(self, space: Namespace, key: str, value: str, *, writing: Writing) -> None:
        self.asked.append(("put", space, key, value, writing))
        self._put()

    async def swap(self, space: Namespace, key: str, *, expected: str, value: str, writing: Writing) -> bool:
        self.asked.append(("swap", space, key, expected, value, writing))
        return expected == "null"

    async def delete(self, space: Namespace, key: str) -> bool:
        self.asked.append(("delete", space, key))
        return key == "there"

    async def keys(self, space: Namespace, *, prefix: str, after: str, most: int) -> tuple[str, ...]:
        self.asked.append(("keys", space, prefix, after, most))
        return ("a", "b")

    async def drop_expired(self) -> int:
        return 0


def a_job(**changes: Any) -> Job:
    registered = RegisteredTool(
        tool=keep,
        source="code",
        source_digest="sha256:code",
        trust=Trust.PINNED,
        quarantine=None,
        shape=Shape(keep),
    )
    plain = Job(
        kind="python",
        invocation_id="i",
        tool=registered,
        arguments=b"{}",
        grant=Grant(capabilities=keep.needs),
        limits=Limits(),
        agent="ana",
        session="s",
        idempotency_key="k",
        warrant=Warrant(invocation_id="i", basis="allowed", approval_id=None, digest="sha256:x"),
    )
    return replace(plain, **changes)


def question(ask: str, *, number: int = 1, scope: str = "tool", **words: Any) -> bytes:
    return json.dumps({"number": number, "ask": ask, "scope": scope, **words}).encode()


SET = question("set", key="k", value={"b": 2, "a": 1.0}, ttl=None)


def desks(rows: Shelf) -> StorageDesks:
    return StorageDesks(rows, quota=StorageQuota(value_bytes=100), strongbox=Strongbox())


async def said(rows: Shelf, *bodies: bytes, job: Job | None = None) -> tuple[list[Any], dict[str, Any]]:
    desk = desks(rows).open(job or a_job())
    answers = [json.loads(await desk.answer(body)) for body in bodies]
    return answers, desk.document()


def test_a_namespace_is_of_the_call_and_nothing_else() -> None:
    job = a_job()
    assert namespace_of(job, "tool") == Namespace(agent="ana", scope="tool", owner="keep")
    assert namespace_of(job, "session") == Namespace(agent="ana", scope="session", owner="s")
    assert namespace_of(job, "agent") == Namespace(agent="ana", scope="agent", owner="")


@pytest.mark.parametrize("warrant", [None, Warrant(invocation_id="j", basis="allowed", approval_id=None, digest="x")])
def test_a_call_without_its_own_warrant_gets_no_desk(warrant: Warrant | None) -> None:
    with pytest.raises(CallRefused) as caught:
        desks(Shelf()).open(a_job(warrant=warrant))
    assert caught.value.code == "approval_void"


async def test_each_question_reaches_the_rows_of_the_call() -> None:
    rows = Shelf()
    mine, session = (namespace_of(a_job(), scope) for scope in ("tool", "session"))
    answers, document = await said(
        rows,
        question("get", number=7, key="k"),
        SET,
        question("delete", key="there", scope="session"),
        question("list", prefix="p", after="q"),
        question("compare_and_set", key="k", expected=None, new=[2], ttl=60),
    )
    writing = Writing(
        label=Label(tool="keep", invocation_id="i"), quota=StorageQuota(value_bytes=100), durability="full"
    )
    assert [each.get("value") for each in answers] == [[{"a": 1}], None, True, ["a", "b"], True]
    assert answers[0]["number"] == 7
    assert rows.asked == [
        ("get", mine, "k"),
        ("put", mine, "k", '{"a":1,"b":2}', writing),
        ("delete", session, "there"),
        ("keys", mine, "p", "q", 500),
        ("swap", mine, "k", "null", "[2]", replace(writing, lasts=timedelta(seconds=60))),
    ]
    assert document == {"reads": 2, "writes": 3, "bytes_written": len('k{"a":1,"b":2}') + len("k[2]")}


async def test_what_changed_nothing_is_no_write() -> None:
    _, document = await said(
        Shelf(),
        question("delete", key="absent"),
        question("compare_and_set", key="k", expected=1, new=2, ttl=None),
        question("get", key="k"),
    )
    assert document == {"reads": 1, "writes": 0, "bytes_written": 0}


@pytest.mark.parametrize(
    ("raises", "code", "writes"),
    [
        (CallFailed("too much", code="storage_quota"), "storage_quota", 0),
        (TrailUnavailable("password=hunter22 host=db"), "not_available", 1),
        (Misuse("a row is written by a running call"), "not_available", 1),
    ],
)
async def test_a_write_counts_unless_the_store_says_that_nothing_was_changed(
    raises: Exception, code: str, writes: int
) -> None:
    def put() -> None:
        raise raises

    (answer,), document = await said(Shelf(put=put), SET)
    assert (answer["fault"]["code"], document["writes"]) == (code, writes)
    assert "hunter22" not in json.dumps([answer, document])


async def test_a_scope_that_was_not_granted_is_refused_before_any_row_is_asked_for() -> None:
    rows = Shelf()
    (answer,), document = await said(rows, question("get", key="k", scope="agent"))
    assert (answer["fault"]["code"], rows.asked) == ("not_available", [])
    assert document["refusals"][0]["weight"] == "grave"


async def test_whoever_is_asked_about_an_earlier_call_reads_and_changes_nothing() -> None:
    rows = Shelf()
    answers, document = await said(
        rows,
        question("get", key="k"),
        SET,
        question("delete", key="k"),
        question("compare_and_set", key="k", expected=None, new=1, ttl=None),
        job=a_job(purpose="reconcile"),
    )
    assert answers[0]["value"] == [{"a": 1}]
    assert [each["fault"]["code"] for each in answers[1:]] == ["not_available"] * 3
    assert [each[0] for each in rows.asked] == ["get"]
    assert document["writes"] == 0


async def test_a_value_that_is_too_long_is_refused_before_any_row_is_asked_for() -> None:
    rows = Shelf()
    answers, document = await said(
        rows,
        question("set", key="k", value="x" * 99, ttl=None),
        question("compare_and_set", key="k", expected=None, new="ü" * 50, ttl=None),
        question("set", key="k", value="x" * 98, ttl=None),
    )
    assert [each.get("fault", {}).get("code") for each in answers] == ["storage_quota", "storage_quota", None]
    assert (len(rows.asked), document["writes"]) == (1, 1)


async def test_a_call_asks_only_so_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage_desk, "MOST_QUESTIONS", 2)
    answers, _ = await said(Shelf(), *[question("get", key="k")] * 3)
    assert answers[2]["fault"]["code"] == "storage_quota"
    assert "at most 2 times" in answers[2]["fault"]["message"]


async def test_a_call_asks_only_so_much_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage_desk, "MOST_BYTES_ASKED", 2 * len(SET))
    rows = Shelf()
    answers, _ = await said(rows, SET, SET, SET)
    assert [each.get("fault", {}).get("code") for each in answers] == [None, None, "storage_quota"]
    assert len(rows.asked) == 2


async def test_a_question_far_above_the_quota_is_not_even_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(_body: bytes) -> None:
        raise AssertionError("it was read")

    monkeypatch.setattr(storage_desk, "read_question", read)
    (answer,), _ = await said(Shelf(), b"[" * 10_000)
    assert answer["fault"]["code"] == "storage_quota"


@pytest.mark.parametrize("number", [0, -1, True, "1", None, 2**40])
async def test_a_question_bears_a_number(number: object) -> None:
    (answer,), _ = await said(
        Shelf(), json.dumps({"number": number, "ask": "get", "scope": "tool", "key": "k"}).encode()
    )
    assert answer["fault"]["code"] == "protocol_error"


async def test_a_refusal_is_told_a_few_times_and_no_more() -> None:
    _, document = await said(Shelf(), *[question("get", key="")] * 100)
    assert len(document["refusals"]) == 20


async def test_a_quota_beyond_what_a_row_can_hold_is_refused() -> None:
    with pytest.raises(ValueError, match="1048576"):
        StorageQuota(value_bytes=(1 << 20) + 1)


async def test_an_answer_says_nothing_that_the_question_chose() -> None:
    body = json.dumps({"number": "<b>", "ask": "evil\x1b[31m", "scope": "x" * 1_000}).encode()
    (answer,), document = await said(Shelf(), body)
    assert set(answer) == {"fault"}
    assert "evil" not in json.dumps(answer)
    assert "evil" not in json.dumps(document)
