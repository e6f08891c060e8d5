"""What every store must do with the rows that tools keep: inherit `StorageSuite` beside `StoreSuite`.

Takes: the fixture `open_store` of the other suite.  Gives: the tests.  Never: looks beneath the protocols.
"""
# ruff: noqa: S101

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from ringfence.errors import CallFailed, RingfenceError
from ringfence.execution.storage import Label, Namespace, Row, StorageQuota, Writing
from ringfence.testing.store_samples import START, Clock, OpenStore, Store, allowed, call, ended

MINE = Namespace(agent="ana", scope="tool", owner="look")
QUOTA = StorageQuota(value_bytes=1_000, rows=5, bytes=200, agent_bytes=300)
WRITING = Writing(label=Label(tool="look", invocation_id="i"), quota=QUOTA, durability="normal")
# Every namespace that differs from `MINE` in one thing, with the call that may write there.
OTHERS = {
    "another agent": (Namespace(agent="bo", scope="tool", owner="look"), "j"),
    "another tool": (Namespace(agent="ana", scope="tool", owner="send"), None),
    "the session": (Namespace(agent="ana", scope="session", owner="s-1"), "i"),
    "another session": (Namespace(agent="ana", scope="session", owner="s-2"), "k"),
    "the agent": (Namespace(agent="ana", scope="agent", owner=""), "i"),
    "another agent's own": (Namespace(agent="bo", scope="agent", owner=""), "j"),
    "a session named like the tool": (Namespace(agent="ana", scope="session", owner="look"), None),
}


async def running(store: Store, id_: str, *, agent: str = "ana", session: str = "s-1") -> None:
    one = call(id_, agent=agent, session=session)
    await store.start(one, warrant=allowed(one), durability="normal", events=[])


def lasting(seconds: float) -> Writing:
    return replace(WRITING, lasts=timedelta(seconds=seconds))


async def full(attempt: object) -> str:
    with pytest.raises(CallFailed) as caught:
        await attempt  # type: ignore[misc]
    assert caught.value.code == "storage_quota"
    return caught.value.message


class StorageSuite:
    """The promises about rows of storage."""

    @pytest.fixture
    async def kept(self, store: Store) -> Store:
        """A store in which calls of two agents and two sessions run."""
        await running(store, "i")
        await running(store, "j", agent="bo")
        await running(store, "k", session="s-2")
        return store

    async def test_a_row_reads_back_with_the_label_of_the_call_that_wrote_it(self, kept: Store) -> None:
        assert await kept.storage.get(MINE, "greeting") is None
        await kept.storage.put(MINE, "greeting", '{"word":"grüß"}', writing=WRITING)
        label = Label(tool="look", invocation_id="i", trust="untrusted")
        expected = Row(value='{"word":"grüß"}', label=label, written_at=START, expires_at=None)
        assert await kept.storage.get(MINE, "greeting") == expected
        await kept.storage.put(MINE, "greeting", "2", writing=lasting(60))
        assert await kept.storage.get(MINE, "greeting") == replace(
            expected, value="2", expires_at=START + timedelta(seconds=60)
        )

    async def test_a_row_is_seen_by_another_process_at_once(self, kept: Store, open_store: OpenStore) -> None:
        await kept.storage.put(MINE, "k", "1", writing=WRITING)
        other = await open_store()
        row = await other.storage.get(MINE, "k")
        assert row is not None
        assert row.value == "1"

    @pytest.mark.parametrize("other", OTHERS)
    async def test_no_namespace_shows_rows_of_another(self, kept: Store, other: str) -> None:
        space, writer = OTHERS[other]
        await kept.storage.put(MINE, "k", '"mine"', writing=WRITING)
        assert await kept.storage.get(space, "k") is None
        assert await kept.storage.keys(space, prefix="", after="", most=10) == ()
        assert await kept.storage.delete(space, "k") is False
        if writer is not None:
            theirs = replace(WRITING, label=Label(tool="look", invocation_id=writer))
            await kept.storage.put(space, "k", '"theirs"', writing=theirs)
        row = await kept.storage.get(MINE, "k")
        assert row is not None
        assert row.value == '"mine"'

    @pytest.mark.parametrize(
        ("space", "writer"),
        [
            (MINE, "j"),
            (replace(MINE, agent="bo"), "i"),
            (Namespace(agent="ana", scope="agent", owner=""), "j"),
            (Namespace(agent="ana", scope="session", owner="s-2"), "i"),
            (Namespace(agent="ana", scope="tool", owner="send"), "i"),
            (Namespace(agent="ana", scope="agent", owner="look"), "i"),
            (MINE, "nobody"),
        ],
        ids=["agent", "other agent", "agent's own", "session", "tool", "agent with an owner", "no call"],
    )
    async def test_a_row_is_written_by_a_running_call_of_its_own(
        self, kept: Store, space: Namespace, writer: str
    ) -> None:
        theirs = replace(WRITING, label=Label(tool="look", invocation_id=writer))
        with pytest.raises(RingfenceError):
            await kept.storage.put(space, "k", "1", writing=theirs)
        assert await kept.storage.get(space, "k") is None

    async def test_a_call_that_has_ended_writes_nothing(self, kept: Store) -> None:
        await kept.storage.put(MINE, "k", "1", writing=WRITING)
        await kept.finish("i", ending=ended(), durability="normal", events=[])
        for attempt in (
            kept.storage.put(MINE, "k", "2", writing=WRITING),
            kept.storage.put(MINE, "new", "2", writing=WRITING),
            kept.storage.swap(MINE, "k", expected="1", value="2", writing=WRITING),
        ):
            with pytest.raises(RingfenceError):
                await attempt
        row = await kept.storage.get(MINE, "k")
        assert row is not None
        assert row.value == "1"

    async def test_a_removed_row_is_gone(self, kept: Store) -> None:
        await kept.storage.put(MINE, "k", "1", writing=WRITING)
        assert await kept.storage.delete(MINE, "k") is True
        assert await kept.storage.delete(MINE, "k") is False
        assert await kept.storage.get(MINE, "k") is None

    async def test_keys_come_in_order_by_prefix_and_page_by_page(self, kept: Store) -> None:
        for key in ("b/2", "a", "b/10", "b", "é"):
            await kept.storage.put(MINE, key, "0", writing=WRITING)
        assert await kept.storage.keys(MINE, prefix="", after="", most=10) == ("a", "b", "b/10", "b/2", "é")
        assert await kept.storage.keys(MINE, prefix="b/", after="", most=10) == ("b/10", "b/2")
        assert await kept.storage.keys(MINE, prefix="b", after="b", most=1) == ("b/10",)
        assert await kept.storage.keys(MINE, prefix="é", after="", most=1) == ("é",)
        assert await kept.storage.keys(MINE, prefix="%", after="", most=10) == ()

    async def test_a_row_is_not_there_from_the_moment_its_time_is_over(self, kept: Store, clock: Clock) -> None:
        await kept.storage.put(MINE, "k", "1", writing=lasting(60))
        clock.at = START + timedelta(seconds=59.999)
        assert await kept.storage.get(MINE, "k") is not None
        clock.at = START + timedelta(seconds=60)
        assert await kept.storage.get(MINE, "k") is None
        assert await kept.storage.keys(MINE, prefix="", after="", most=10) == ()
        assert await kept.storage.delete(MINE, "k") is False
        assert await kept.storage.swap(MINE, "k", expected="1", value="2", writing=WRITING) is False
        assert await kept.storage.swap(MINE, "k", expected="null", value="3", writing=WRITING) is True

    async def test_rows_whose_time_is_over_are_removed_and_no_others(self, kept: Store, clock: Clock) -> None:
        await kept.storage.put(MINE, "short", "1", writing=lasting(60))
        await kept.storage.put(MINE, "long", "1", writing=lasting(600))
        await kept.storage.put(MINE, "for good", "1", writing=WRITING)
        theirs = replace(lasting(60), label=Label(tool="look", invocation_id="j"))
        await kept.storage.put(Namespace(agent="bo", scope="agent", owner=""), "short", "1", writing=theirs)
        assert await kept.storage.drop_expired() == 0
        clock.at = START + timedelta(seconds=60)
        assert await kept.storage.drop_expired() == 2
        assert await kept.storage.drop_expired() == 0
        assert await kept.storage.keys(MINE, prefix="", after="", most=10) == ("for good", "long")

    async def test_a_swap_holds_where_what_is_there_is_as_expected(self, kept: Store) -> None:
        swap = kept.storage.swap
        assert await swap(MINE, "k", expected="1", value="2", writing=WRITING) is False
        assert await swap(MINE, "k", expected="null", value="1", writing=WRITING) is True
        assert await swap(MINE, "k", expected="null", value="9", writing=WRITING) is False
        assert await swap(MINE, "k", expected="1", value="null", writing=WRITING) is True
        assert await swap(MINE, "k", expected="null", value="3", writing=WRITING) is True
        row = await kept.storage.get(MINE, "k")
        assert row is not None
        assert row.value == "3"

    async def test_of_many_swaps_at_once_one_wins(self, kept: Store, open_store: OpenStore) -> None:
        others = [kept, await open_store(), await open_store()]
        for number in range(10):
            swaps = [
                each.storage.swap(MINE, "k", expected=str(number) if number else "null", value=value, writing=WRITING)
                for each in others
                for value in (str(number + 1), str(number + 1))
            ]
            assert sorted(await asyncio.gather(*swaps)) == [False] * 5 + [True]

    async def test_more_rows_than_the_quota_are_refused_until_one_goes(self, kept: Store) -> None:
        for number in range(QUOTA.rows):
            await kept.storage.put(MINE, str(number), "0", writing=WRITING)
        assert "5 rows" in await full(kept.storage.put(MINE, "more", "0", writing=WRITING))
        assert "5 rows" in await full(kept.storage.swap(MINE, "x", expected="null", value="0", writing=WRITING))
        await kept.storage.put(MINE, "0", "1", writing=WRITING)
        await kept.storage.delete(MINE, "0")
        await kept.storage.put(MINE, "more", "0", writing=WRITING)
        assert await kept.storage.keys(MINE, prefix="", after="", most=10) == ("1", "2", "3", "4", "more")

    async def test_more_bytes_than_the_quota_are_refused_and_change_nothing(self, kept: Store) -> None:
        await kept.storage.put(MINE, "k", '"' + "x" * 180 + '"', writing=WRITING)
        assert "more than 200" in await full(kept.storage.put(MINE, "k", '"' + "x" * 198 + '"', writing=WRITING))
        assert "more than 200" in await full(kept.storage.put(MINE, "l", '"' + "ü" * 10 + '"', writing=WRITING))
        await kept.storage.put(MINE, "k", "0", writing=WRITING)
        await kept.storage.put(MINE, "l", '"' + "ü" * 90 + '"', writing=WRITING)
        assert await kept.storage.keys(MINE, prefix="", after="", most=10) == ("k", "l")

    async def test_an_agent_has_a_quota_over_all_its_namespaces(self, kept: Store) -> None:
        long = '"' + "x" * 180 + '"'
        await kept.storage.put(MINE, "k", long, writing=WRITING)
        own = Namespace(agent="ana", scope="agent", owner="")
        assert "all storage of the agent" in await full(kept.storage.put(own, "k", long, writing=WRITING))
        theirs = replace(WRITING, label=Label(tool="look", invocation_id="j"))
        await kept.storage.put(replace(MINE, agent="bo"), "k", long, writing=theirs)

    async def test_a_row_whose_time_is_over_does_not_count(self, kept: Store, clock: Clock) -> None:
        for number in range(QUOTA.rows):
            await kept.storage.put(MINE, str(number), "0", writing=lasting(60))
        await full(kept.storage.put(MINE, "more", "0", writing=WRITING))
        clock.at = START + timedelta(seconds=60)
        await kept.storage.put(MINE, "more", "0", writing=WRITING)
        assert await kept.storage.keys(MINE, prefix="", after="", most=10) == ("more",)

    async def test_writers_at_once_do_not_pass_the_quota_together(self, kept: Store, open_store: OpenStore) -> None:
        others = [kept, await open_store(), await open_store()]
        puts = [
            each.storage.put(MINE, f"{place}-{number}", "0", writing=WRITING)
            for place, each in enumerate(others)
            for number in range(4)
        ]
        ended_ = await asyncio.gather(*puts, return_exceptions=True)
        assert sum(each is None for each in ended_) == QUOTA.rows
        assert all(each is None or (isinstance(each, CallFailed) and each.code == "storage_quota") for each in ended_)
        assert len(await kept.storage.keys(MINE, prefix="", after="", most=20)) == QUOTA.rows
