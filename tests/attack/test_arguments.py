"""Attack 140: arguments that are not what they seem. Each is refused before the policy sees it, and nothing raises."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ringfence.assembly import open_runtime
from ringfence.errors import Misuse
from ringfence.runtime import Outcome, Refused, blocking
from ringfence.runtime.blocking import BlockingRuntime
from tests.acceptance.spine import toolbox
from tests.acceptance.spine.household import (
    assert_completed,
    assert_refused,
    assert_waiting,
    config,
    open_house,
    scripted,
)

pytestmark = pytest.mark.req("CON-3")

STATUSES = {"completed", "waiting", "refused", "failed"}


class SlyText(str):
    """Text that claims to be equal to everything."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash("pay")


class SlyDict(dict[str, Any]):
    """A dict that shows one thing and gives another."""

    def items(self) -> Any:
        return {"text": "harmless"}.items()


class SlyInteger(int):
    """An integer that is small when it is asked."""

    def __abs__(self) -> int:
        return 0


class Liar(Mapping[str, Any]):
    """A mapping whose parts disagree; `broken` says which of them raises."""

    def __init__(self, broken: str) -> None:
        self._broken = broken

    def __getitem__(self, key: str) -> Any:
        if self._broken == "getitem":
            raise KeyError(key)
        return "x"

    def __iter__(self) -> Iterator[str]:
        if self._broken == "iter":
            raise RuntimeError("no")
        return iter(["text"])

    def __len__(self) -> int:
        return 10**9


LETTERS = st.text(st.characters(codec=None), max_size=20)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=10**300, max_value=10**310),
    st.floats(allow_nan=True, allow_infinity=True),
    LETTERS,
    st.binary(max_size=8),
    st.builds(object),
    st.builds(SlyText, LETTERS),
    st.builds(SlyInteger, st.integers(min_value=2**60)),
    st.just(SlyDict(text="x")),
    st.frozensets(st.integers(), max_size=2),
)
KEYS = st.one_of(
    LETTERS, st.sampled_from(["text", "name", "amount", "to"]), st.integers(), st.none(), st.builds(SlyText, LETTERS)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.tuples(inner, inner), st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=12,
)


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BlockingRuntime]:
    settings_ = config(tmp_path_factory.mktemp("fuzz"))
    with blocking(open_runtime(settings_, tools=toolbox.ALL, dangerously_sandbox=scripted())) as opened:
        yield opened


def assert_clean(outcome: Outcome) -> None:
    """An outcome that every later reader can encode."""
    assert outcome.status in STATUSES
    json.dumps(outcome.as_dict(), allow_nan=False, ensure_ascii=False).encode()
    outcome.for_model().encode()


@pytest.mark.req("CON-2")
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    tool=st.sampled_from(["echo", "pay", "look_up", "measure", "order"]),
    arguments=st.dictionaries(KEYS, VALUES, max_size=4),
)
def test_whatever_the_arguments_are_a_call_has_an_outcome(
    runtime: BlockingRuntime, tool: str, arguments: dict[Any, Any]
) -> None:
    assert_clean(runtime.session(agent="ana", user="ulla").call(tool, arguments))


@settings(max_examples=150, deadline=None)
@given(tool=st.text(st.characters(codec=None), max_size=300), arguments=st.dictionaries(LETTERS, LEAVES, max_size=2))
def test_whatever_the_name_is_a_call_has_an_outcome(
    runtime: BlockingRuntime, tool: str, arguments: dict[Any, Any]
) -> None:
    outcome = runtime.session(agent="ana", user="ulla").call(tool, arguments)
    assert_clean(outcome)
    assert isinstance(outcome, Refused) or tool in {each.name for each in toolbox.ALL}


@settings(max_examples=100, deadline=None)
@given(key=st.text(st.characters(codec=None), max_size=300))
def test_a_key_is_used_or_is_misuse_and_nothing_else(runtime: BlockingRuntime, key: str) -> None:
    session = runtime.session(agent="ana", user="ulla")
    try:
        assert_clean(session.call("echo", {"text": "x"}, idempotency_key=key))
    except Misuse:
        assert not 0 < len(key) <= 256 or any("\ud800" <= letter <= "\udfff" for letter in key)


def _deep(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


LOOP: list[Any] = []
LOOP.append(LOOP)

HOSTILE: dict[str, Any] = {
    "an extra field": {"text": "x", "also": 1},
    "a wrong type": {"text": 7},
    "not a number": {"text": float("nan")},
    "infinity": {"text": float("inf")},
    "a huge integer": {"text": 10**5000},
    "a huge text": {"text": "x" * 8_193},
    "an unpaired surrogate": {"text": "\ud800"},
    "an unpaired surrogate in a key": {"text": "x", "\udfff": 1},
    "a sly text": {"text": SlyText("x")},
    "a sly key": {SlyText("text"): "x"},
    "a sly dict": {"text": SlyDict()},
    "bytes": {"text": b"x"},
    "a tuple": {"text": ("x",)},
    "a nest": {"text": _deep(100_000)},
    "a loop": {"text": LOOP},
    "too much in all": {f"k{n}": "x" * 8_000 for n in range(40)},
    "nothing": {},
    "null": {"text": None},
}


@pytest.mark.parametrize("arguments", HOSTILE.values(), ids=HOSTILE)
async def test_hostile_arguments_are_refused_before_the_policy_sees_them(
    tmp_path: Path, arguments: dict[Any, Any]
) -> None:
    async with open_house(config(tmp_path)) as house:
        assert_completed(await house.call("echo", {"text": "x"}))  # the control: fitting arguments run
        outcome = assert_refused(await house.call("echo", arguments), "input_invalid")
        assert house.ran == ["echo"]
        assert (await house.events("policy_decision"))[-1]["body"]["reasons"] == []
    assert outcome.reasons == ()
    assert_clean(outcome)


MAPPINGS: list[Mapping[str, Any]] = [
    OrderedDict[str, Any](text="x"),
    MappingProxyType({"text": "x"}),
    SlyDict(text="x"),
]


@pytest.mark.parametrize("arguments", MAPPINGS, ids=lambda given: type(given).__name__)
async def test_any_mapping_is_taken_as_the_plain_copy_it_gives(tmp_path: Path, arguments: Mapping[str, Any]) -> None:
    async with open_house(config(tmp_path)) as house:
        assert_completed(await house.call("echo", arguments))
        assert house.sandbox.jobs[0].arguments == b'{"text":"x"}'


@pytest.mark.parametrize("broken", ["getitem", "iter"])
async def test_a_mapping_that_cannot_be_read_is_the_callers_misuse(tmp_path: Path, broken: str) -> None:
    async with open_house(config(tmp_path)) as house:
        with pytest.raises(Misuse, match="cannot be read"):
            await house.call("echo", Liar(broken))
        for wrong in ("text", 7, None, [("text", "x")]):
            with pytest.raises(Misuse):
                await house.call("echo", wrong)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        with pytest.raises(Misuse):
            await house.session().call(None, {})


@pytest.mark.req("APR-2")
async def test_arguments_changed_after_they_were_asked_for_change_nothing(tmp_path: Path) -> None:
    mine: dict[str, Any] = {"to": "shop", "amount": 5}
    async with open_house(config(tmp_path)) as house:
        session = house.session()
        asked = assert_waiting(await session.call("pay", mine))
        mine.update(to="eve", amount=5_000)
        await house.vote(asked, "alice")
        assert_completed(await session.resume(asked.invocation_id))
        (job,) = house.sandbox.jobs
    assert job.arguments == b'{"amount":5,"to":"shop"}'


@pytest.mark.parametrize("key", ["", "x" * 257, "\ud800", 7, b"k"])
async def test_a_key_that_cannot_be_kept_is_the_callers_misuse(tmp_path: Path, key: Any) -> None:
    async with open_house(config(tmp_path)) as house:
        with pytest.raises(Misuse):
            await house.session().call("echo", {"text": "x"}, idempotency_key=key)
        with pytest.raises(Misuse):
            house.session(user=key)
        with pytest.raises(Misuse):
            house.session(id=key)
