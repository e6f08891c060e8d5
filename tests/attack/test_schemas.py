"""Attack 139: a schema that looks elsewhere, loops, or never ends. It is refused in time, and nothing is fetched."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest

from ringfence.contract.call import Shape
from ringfence.contract.document import read_document
from ringfence.errors import DeclarationRefused
from tests.acceptance.spine import toolbox
from tests.acceptance.spine.household import assert_completed, config, open_house

pytestmark = pytest.mark.req("CON-2", "CON-3")

ELSEWHERE = ["http://127.0.0.1:9/s.json", "https://example.com/s", "file:///etc/passwd", "other.json", "#/$defs/no"]


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(*_: Any) -> NoReturn:
        raise AssertionError("something was fetched")

    monkeypatch.setattr(socket.socket, "connect", connect)


def offered(change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    document = toolbox.echo.document()
    document["input_schema"] = {**document["input_schema"]}
    change(document)
    return document


@pytest.mark.parametrize("reference", ELSEWHERE)
def test_a_reference_to_somewhere_else_is_refused_and_not_fetched(no_network: None, reference: str) -> None:
    def change(document: dict[str, Any]) -> None:
        document["input_schema"]["properties"] = {"text": {"$ref": reference}}

    assert read_document(offered(lambda _: None)).fingerprint == toolbox.echo.fingerprint  # the control
    with pytest.raises(DeclarationRefused):
        read_document(offered(change))
    with pytest.raises(DeclarationRefused):
        Shape(replace(toolbox.echo, input_schema=offered(change)["input_schema"]))


@pytest.mark.parametrize("keyword", ["$id", "$schema", "$dynamicRef", "$anchor", "$vocabulary"])
def test_a_keyword_that_moves_the_schema_elsewhere_is_refused(no_network: None, keyword: str) -> None:
    def change(document: dict[str, Any]) -> None:
        document["input_schema"][keyword] = "http://example.com/"

    with pytest.raises(DeclarationRefused, match="elsewhere"):
        read_document(offered(change))


def test_a_schema_of_endless_depth_is_refused() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(100_000):
        deep = {"anyOf": [deep]}

    def change(document: dict[str, Any]) -> None:
        document["input_schema"]["properties"] = {"text": deep}

    with pytest.raises(DeclarationRefused):
        read_document(offered(change))


@pytest.mark.parametrize("pattern", ["(?=x)y", "(a)\\1", "["])
def test_a_pattern_that_cannot_be_matched_in_linear_time_is_refused(pattern: str) -> None:
    schema = {**toolbox.echo.input_schema, "properties": {"text": {"type": "string", "pattern": pattern}}}
    with pytest.raises(DeclarationRefused, match="cannot be enforced"):
        Shape(replace(toolbox.echo, input_schema=schema))


async def test_a_catastrophic_pattern_in_a_schema_takes_no_longer_than_any_other(tmp_path: Path) -> None:
    schema = {**toolbox.echo.input_schema, "properties": {"text": {"type": "string", "pattern": "^(a+)+$|!"}}}
    async with open_house(config(tmp_path), tools=[replace(toolbox.echo, input_schema=schema)]) as house:
        assert_completed(await house.call("echo", {"text": "a" * 8_000 + "!"}))
