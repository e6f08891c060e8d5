"""An encoder that is made once spells every value as the standard one does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.contract import spelling
from ringfence.contract.spelling import speller

pytestmark = pytest.mark.req("AUD-1")

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_it_spells_as_the_standard_encoder_does(value: Any) -> None:
    tight = speller(letters="as they are", keys="sorted", marks=(",", ":"))
    loose = speller(letters="ascii", keys="as given", marks=(", ", ": "))
    assert tight(value) == json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert loose(value) == json.dumps(value)


def test_what_json_does_not_have_is_refused() -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        speller(letters="ascii", keys="sorted", marks=(",", ":"))({1, 2})


def test_without_the_part_in_c_the_spelling_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    value = {"b": ["ü", 1.5, None], "a": {"z": True, "y": ""}}
    in_c = speller(letters="as they are", keys="sorted", marks=(",", ":"))
    monkeypatch.setattr(spelling, "_in_c", None)
    assert speller(letters="as they are", keys="sorted", marks=(",", ":"))(value) == in_c(value)
