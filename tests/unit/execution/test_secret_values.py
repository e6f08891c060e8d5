"""A value shows its name wherever it is printed or stored, and the strongbox follows its sources."""

from __future__ import annotations

import copy
import gc
import json
import logging
import pickle
import traceback
from collections.abc import Callable

import pytest
from pydantic_core import to_json

from ringfence import SecretRef
from ringfence.errors import CallFailed
from ringfence.execution.secrets import Fetched, SecretUnavailable, SecretValue
from ringfence.execution.strongbox import Strongbox

pytestmark = pytest.mark.req("SEC-1")

VALUE = "zebra-orchid-41-lantern"
SHOWN = "[REDACTED:CRM_KEY]"


SHOWS: tuple[Callable[[object], str], ...] = (
    repr,
    str,
    format,
    lambda value: f"{value}|{value!r}|{value:>40}",
    lambda value: json.dumps({"key": value}, default=str),
    lambda value: repr([value, {"a": value}]),
)


@pytest.mark.parametrize("shown", SHOWS)
@pytest.mark.parametrize("held", [SecretValue("CRM_KEY", VALUE), SecretRef("CRM_KEY", placeholder="p", revealed=VALUE)])
def test_as_text_it_is_its_name(shown: Callable[[object], str], held: object) -> None:
    assert SHOWN in shown(held)
    assert VALUE not in shown(held)


def test_json_has_a_reference_as_its_name() -> None:
    assert json.dumps({"key": SecretRef("CRM_KEY", placeholder="p", revealed=VALUE)}) == f'{{"key": "{SHOWN}"}}'
    assert to_json([SecretRef("CRM_KEY", placeholder="p", revealed=VALUE)]) == f'["{SHOWN}"]'.encode()


@pytest.mark.parametrize("held", [SecretValue("CRM_KEY", VALUE), SecretRef("CRM_KEY", placeholder="p", revealed=VALUE)])
def test_logging_shows_the_name(held: object, caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("anybody").warning("using %s and %r", held, held)
    assert caplog.messages == [f"using {SHOWN} and {SHOWN}"]


def test_a_reference_pickles_as_its_name_and_cannot_be_copied() -> None:
    held = SecretRef("CRM_KEY", placeholder="p", revealed=VALUE)
    assert pickle.loads(pickle.dumps(held)) == SHOWN
    for copied in (copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            copied(held)


@pytest.mark.parametrize("taken", [pickle.dumps, copy.copy, copy.deepcopy, vars])
def test_a_value_cannot_be_pickled_copied_or_listed(taken: Callable[[object], object]) -> None:
    with pytest.raises(TypeError):
        taken(SecretValue("CRM_KEY", VALUE))


def test_two_are_equal_only_to_themselves() -> None:
    one, other = SecretValue("CRM_KEY", VALUE), SecretValue("CRM_KEY", VALUE)
    assert one != other
    assert one == one
    assert SecretRef("K", placeholder="p") != SecretRef("K", placeholder="p")


def test_its_attributes_hold_no_text_of_it() -> None:
    held = SecretValue("CRM_KEY", VALUE)
    assert VALUE not in repr([getattr(held, name) for name in dir(held)])
    assert VALUE not in gc.get_referents(held)


def test_the_locals_of_a_traceback_do_not_show_it() -> None:
    def fail(held: SecretValue) -> None:
        if held.problem() is None and held.mark(b"k") and len(held.revealed()) == len(VALUE):
            raise RuntimeError("something else")

    with pytest.raises(RuntimeError) as raised:
        fail(SecretValue("CRM_KEY", VALUE))
    told = traceback.TracebackException.from_exception(raised.value, capture_locals=True)
    assert VALUE not in str(told.stack[-1].locals)


def test_asking_a_reference_for_its_value_fails_unless_it_is_revealed() -> None:
    with pytest.raises(CallFailed) as raised:
        SecretRef("CRM_KEY", placeholder="p").raw()
    assert raised.value.code == "secret_not_declared"
    assert SecretRef("CRM_KEY", placeholder="p", revealed=VALUE).raw() == VALUE


class Scripted:
    """A source whose value a test changes."""

    kind, where = "scripted", "here"

    def __init__(self, value: str | None, *, lasts: float = 0.0) -> None:
        self.value = value
        self.lasts = lasts
        self.asked = 0

    def fetch(self) -> Fetched:
        self.asked += 1
        if self.value is None:
            raise SecretUnavailable("gone")
        return Fetched(value=SecretValue("K", self.value))


async def test_a_rotated_value_is_used_by_the_next_call_and_the_old_one_is_still_known() -> None:
    source = Scripted("first-value-of-it")
    box = Strongbox({"K": source}, key=b"k")
    assert await box.load() == {}
    before = (await box.current(["K"]))["K"]
    source.value = "second-value-of-it"
    after = (await box.current(["K"]))["K"]
    assert (before.value.revealed(), after.value.revealed()) == ("first-value-of-it", "second-value-of-it")
    assert before.version != after.version
    assert box.scrubber.scrubbed("first-value-of-it second-value-of-it") == "[REDACTED:K] [REDACTED:K]"


async def test_a_version_names_the_value_to_who_has_the_key_and_to_nobody_else() -> None:
    async def version(value: str, key: bytes) -> str:
        box = Strongbox({"K": Scripted(value)}, key=key)
        return (await box.current(["K"]))["K"].version

    assert await version("the-same-value", b"k") == await version("the-same-value", b"k")
    assert await version("the-same-value", b"k") != await version("the-same-value", b"other")
    assert await version("the-same-value", b"k") != await version("another-value", b"k")


async def test_a_source_that_is_slow_to_ask_is_asked_again_after_its_time() -> None:
    now = [0.0]
    source = Scripted("first-value-of-it", lasts=60)
    box = Strongbox({"K": source}, clock=lambda: now[0])
    await box.load()
    await box.current(["K"])
    assert source.asked == 1
    now[0] = 60.0
    source.value = "second-value-of-it"
    assert (await box.current(["K"]))["K"].value.revealed() == "second-value-of-it"


async def test_a_source_that_lost_its_value_refuses_and_the_old_value_is_not_used() -> None:
    source = Scripted("first-value-of-it")
    box = Strongbox({"K": source})
    await box.load()
    source.value = None
    with pytest.raises(SecretUnavailable, match="gone"):
        await box.current(["K"])
    source.value = "short"
    with pytest.raises(SecretUnavailable, match="fewer than 8 characters"):
        await box.current(["K"])


async def test_a_secret_without_a_source_is_not_available() -> None:
    with pytest.raises(SecretUnavailable, match="no source is configured for the secret `K`") as raised:
        await Strongbox().current(["K"])
    assert raised.value.code == "not_available"


@pytest.mark.req("SEC-3")
@pytest.mark.parametrize("value", ["", "seven77", "aaaaaaaaaaaa", "nul\0inside-it", "x9" * 2049])
async def test_a_value_that_could_not_be_hidden_is_not_bound(value: str) -> None:
    box = Strongbox({"K": Scripted(value)})
    assert list(await box.load()) == ["K"]
    assert box.readable == frozenset()
