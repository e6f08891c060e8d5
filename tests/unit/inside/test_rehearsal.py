"""A rehearsal is like a call, and nothing of an author's is in it."""

from __future__ import annotations

import os

import pytest
from pydantic import BaseModel, Field, field_validator
from pydantic_core import from_json

from ringfence import Context, tool
from ringfence.contract.fingerprint import digest
from ringfence.inside import wire
from ringfence.inside.rehearsal import PLAIN, WITH_CONTEXT, Rehearsal, find_places, rehearsal_for
from ringfence.runtime.case import new_id

pytestmark = pytest.mark.req("SBX-2")
told: list[str] = []


class Outspoken(BaseModel):
    """Says so whenever anything of it runs."""

    number: int = Field(default_factory=lambda: len(told))

    def __init__(self, **given: object) -> None:
        told.append("initialised")
        super().__init__(**given)

    def __setattr__(self, name: str, value: object) -> None:
        told.append(f"set {name}")
        super().__setattr__(name, value)

    def model_post_init(self, context: object, /) -> None:
        told.append("made")

    @field_validator("number")
    @classmethod
    def look(cls, number: int) -> int:
        told.append("validated")
        return number


class Dying(BaseModel):
    def __del__(self) -> None:
        told.append("gone")


def words(rehearsal: Rehearsal) -> dict[str, object]:
    heard, said = os.pipe()
    wire.send(said, rehearsal.frames)
    os.close(said)
    (kind, job), _ = wire.receive_two(heard, most=(4_096, 4_096))
    os.close(heard)
    assert kind is wire.Kind.JOB
    found: dict[str, object] = from_json(job)
    return found


@pytest.mark.parametrize("rehearsal", [PLAIN, WITH_CONTEXT], ids=["plain", "with a context"])
def test_its_words_are_as_long_as_those_of_a_call(rehearsal: Rehearsal) -> None:
    found = words(rehearsal)
    assert [len(str(found["session"])), len(str(found["idempotency_key"]))] == [len(new_id("ses")), len(digest(b""))]
    assert found["task"] == "call"
    assert {"tool", "agent", "secrets", "storage"} <= set(found)


def test_what_is_found_beforehand_runs_nothing_of_an_authors() -> None:
    told.clear()
    find_places((Outspoken, Dying))
    assert told == []
    Outspoken.model_validate_json(b'{"number": 1}')
    assert told == ["initialised", "validated", "made"]


def test_one_without_a_context_is_played_where_no_tool_has_one() -> None:
    @tool(safety="read")
    def alone() -> int:
        """Do nothing."""
        return 1

    @tool(safety="read")
    def beside(ctx: Context) -> int:
        """Do nothing."""
        return 1

    assert rehearsal_for({"alone": alone}) is PLAIN
    assert rehearsal_for({"alone": alone, "beside": beside}) is WITH_CONTEXT
