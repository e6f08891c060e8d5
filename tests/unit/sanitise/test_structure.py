"""Structured output keeps its shape while every string in it is cleaned."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.errors import CallFailed
from ringfence.sanitise import JSON, Finding, Severity, clean_json

pytestmark = pytest.mark.req("SAN-1", "SAN-2")

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text("ab\u200b\x1b")
)
VALUES: st.SearchStrategy[JSON] = st.recursive(
    LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text("ab"), inner)
)


def test_every_leaf_and_every_key_is_cleaned_and_pointed_at() -> None:
    clean, findings = clean_json({"a\u200b": ["x", {"b/c": "y\x1b[m"}], "n": 1.5, "t": True, "z": None})
    assert clean == {"a": ["x", {"b/c": "y"}], "n": 1.5, "t": True, "z": None}
    assert findings == (
        Finding("zero_width", (1, 2), Severity.MEDIUM, path=""),
        Finding("terminal_style", (1, 4), Severity.LOW, "csi", path="/a/1/b~1c"),
    )


def test_the_limit_holds_for_each_string() -> None:
    assert clean_json(["x" * 30, "y"], limit=10)[0] == ["x" * 10 + "[truncated: 20 bytes]", "y"]


@pytest.mark.req("SAN-4")
@given(VALUES)
def test_cleaning_a_structure_twice_is_cleaning_it_once(value: JSON) -> None:
    once, _ = clean_json(value)
    assert clean_json(once) == (once, ())


def test_two_keys_that_become_one_are_refused() -> None:
    with pytest.raises(CallFailed, match="two keys at `/x` are the same once cleaned: `a`") as refused:
        clean_json({"x": {"a": 1, "a\u200b": 2}})
    assert refused.value.code == "output_invalid"


@pytest.mark.parametrize("value", [b"bytes", {1}, float("nan"), float("inf"), {1: "a"}, (1, 2), object()])
def test_what_json_does_not_have_is_refused(value: object) -> None:
    with pytest.raises(CallFailed) as refused:
        clean_json([value])
    assert refused.value.code == "output_invalid"


def test_bottomless_nesting_is_refused() -> None:
    value: JSON = []
    for _ in range(5000):
        value = [value]
    with pytest.raises(CallFailed, match="nested") as refused:
        clean_json(value)
    assert refused.value.code == "output_invalid"
