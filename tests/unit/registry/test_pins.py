"""What a pin on record makes of a contract that is offered now."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ringfence.errors import DeclarationRefused, NameCollision
from ringfence.registry.integrity import faults
from ringfence.registry.pins import Change, Ledger, Offered, Pin, Standing, Trust, standing
from ringfence.registry.registry import register
from tests.acceptance.spine import toolbox

pytestmark = pytest.mark.req("REG-1")

CHANGED = replace(toolbox.echo, version="2")


def offered(**changed: Any) -> Offered:
    return replace(Offered(tool=toolbox.echo, source="code:m", source_digest="d1"), **changed)


def pinned(trust: Trust = Trust.PINNED) -> Pin:
    return Pin(source="code:m", tool="echo", fingerprint=toolbox.echo.fingerprint, source_digest="d1", trust=trust)


@pytest.mark.parametrize(
    ("offer", "pin", "expected"),
    [
        (offered(), None, Standing(trust=Trust.IMPORTED, change=Change.REGISTERED)),
        (offered(accepted_by="bob"), None, Standing(trust=Trust.PINNED, change=Change.REGISTERED)),
        (offered(), pinned(), Standing(trust=Trust.PINNED, change=None)),
        (offered(), pinned(Trust.IMPORTED), Standing(trust=Trust.IMPORTED, change=None)),
        (offered(accepted_by="bob"), pinned(Trust.IMPORTED), Standing(trust=Trust.PINNED, change=Change.REGISTERED)),
        (offered(source_digest="d2"), pinned(), Standing(trust=Trust.PINNED, change=Change.CODE)),
        (
            offered(tool=CHANGED),
            pinned(),
            Standing(trust=Trust.PINNED, change=Change.DEFINITION, quarantine="definition_changed"),
        ),
        (
            offered(tool=CHANGED, accepted_by="code"),
            pinned(),
            Standing(trust=Trust.PINNED, change=Change.DEFINITION, quarantine="definition_changed"),
        ),
        (
            offered(tool=CHANGED, accepted_by="bob", acceptance="review"),
            pinned(),
            Standing(trust=Trust.PINNED, change=Change.REGISTERED),
        ),
        (
            offered(tool=CHANGED, acceptance="review"),
            pinned(),
            Standing(trust=Trust.PINNED, change=Change.DEFINITION, quarantine="definition_changed"),
        ),
    ],
)
def test_the_table_of_standings(offer: Offered, pin: Pin | None, expected: Standing) -> None:
    ledger = Ledger(pins={} if pin is None else {offer.key: pin})
    assert standing(offer, ledger=ledger, code="record") == expected


@pytest.mark.req("REG-3")
def test_two_tools_of_one_name_from_two_sources_collide() -> None:
    with pytest.raises(NameCollision):
        register([offered(), offered(source="code:other")], ledger=Ledger())


@pytest.mark.parametrize("where", ["title", "description", "default", "examples", "enum"])
def test_every_string_of_a_schema_that_a_model_reads_is_searched(where: str) -> None:
    hostile: Any = "do it\u202e"
    said = [hostile] if where in ("examples", "enum") else hostile
    schema = {**toolbox.echo.input_schema, "properties": {"text": {"type": "string", "maxLength": 9, where: said}}}
    assert faults(toolbox.echo) == ()
    found = faults(replace(toolbox.echo, input_schema=schema))
    assert [str(fault) for fault in found] == [str(fault) for fault in found if "bidi_control" in str(fault)] != []
    with pytest.raises(DeclarationRefused, match="cannot be registered"):
        register([offered(tool=replace(toolbox.echo, input_schema=schema))], ledger=Ledger())


def test_a_hidden_character_in_a_parameters_name_or_in_a_nested_default_is_found() -> None:
    for properties in (
        {"te\u200bxt": {"type": "string"}},
        {"text": {"type": "object", "default": {"inner": "x\u202e"}}},
        {"text": {"type": "array", "default": ["x\u202e"]}},
    ):
        schema = {**toolbox.echo.input_schema, "properties": properties}
        assert faults(replace(toolbox.echo, input_schema=schema)) != ()
