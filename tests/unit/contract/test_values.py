"""Plain JSON and nothing that only looks like it; and one spelling for it that reads back as it was."""

from __future__ import annotations

import json
from typing import Any

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from ringfence.contract.fingerprint import canonical
from ringfence.contract.values import NotPlain, parse_json, read_canonical, require_plain

pytestmark = pytest.mark.req("CON-3", "CON-10")

TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=10,
)


@settings(max_examples=200, deadline=None)
@given(value=PLAIN)
def test_the_fast_spelling_is_the_spelling_of_rfc_8785(value: Any) -> None:
    assert canonical(value) == rfc8785.dumps(value)


@settings(max_examples=200, deadline=None)
@given(value=PLAIN)
def test_what_was_spelled_reads_back_as_it_was_and_is_spelled_the_same_again(value: Any) -> None:
    spelled = canonical(value)
    again = read_canonical(spelled)
    assert again == value
    assert canonical(again) == spelled
    require_plain(again)


@pytest.mark.parametrize("number", [1e16, 1e17, 1e20, -1e18, 9007199254740993.0])
def test_a_large_number_is_not_taken_for_an_integer(number: float) -> None:
    assert type(read_canonical(canonical(number))) is float


@pytest.mark.req("CON-3")
def test_what_was_spelled_is_read_to_its_end() -> None:
    with pytest.raises(ValueError, match="more follows"):
        read_canonical('{"a":1}{"a":2}')


@pytest.mark.parametrize(
    "value", [2**53, -(2**53), float("nan"), float("-inf"), "\ud800", {"\udfff": 1}, {1: 2}, (1,), {1}, b"x", object()]
)
def test_what_is_not_plain_is_refused(value: Any) -> None:
    with pytest.raises(NotPlain):
        require_plain({"key": value})


def test_a_problem_can_be_told_without_the_place() -> None:
    with pytest.raises(NotPlain) as refusal:
        require_plain({"secret_key": {"inner_key": 2**60}})
    assert "secret_key" in str(refusal.value)
    assert "key" not in refusal.value.problem


@pytest.mark.parametrize(
    "text",
    ["", "{", "[1,]", "NaN", "-Infinity", '{"a":1,"a":2}', "1" * 30, "1e999", '"\\ud800"', "[" * 200 + "]" * 200, "01"],
)
def test_json_text_from_a_stranger_is_read_strictly(text: str) -> None:
    for given_text in (text, text.encode()):
        with pytest.raises(NotPlain):
            parse_json(given_text)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-8-sig", "latin-1"])
def test_json_bytes_are_utf_8_and_nothing_else(encoding: str) -> None:
    with pytest.raises(NotPlain):
        parse_json('["é"]'.encode(encoding))


def test_json_text_is_bounded() -> None:
    with pytest.raises(NotPlain, match="longer"):
        parse_json(json.dumps("x" * 100), size=50)
    assert parse_json(b'{"a":[1,2.5,null,true,"x"]}') == {"a": [1, 2.5, None, True, "x"]}
