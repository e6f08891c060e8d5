"""The one glob: what `*` and `?` mean, and that hostile text cannot make it slow."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ringfence.contract.patterns import GlobSet, glob

pytestmark = pytest.mark.req("VIEW-1")


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("crm_*", "crm_lookup"),
        ("crm_*", "crm_"),
        ("*", ""),
        ("*_delete", "crm_delete"),
        ("*@customers.example", "a@customers.example"),
        ("a*b*c", "a-b-b-c"),
        ("get_?", "get_x"),
        ("?*?", "ab"),
        ("**", "anything"),
        ("*", "two\nlines"),
        ("[ab]*", "[ab]c"),
        ("a.c", "a.c"),
    ],
)
def test_a_pattern_matches_the_whole_text(pattern: str, text: str) -> None:
    assert glob(pattern)(text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("crm_*", "xcrm_lookup"),
        ("*_delete", "crm_delete_all"),
        ("*_delete", "crm_delete\n"),
        ("crm_*", "CRM_lookup"),
        ("get_?", "get_"),
        ("get_?", "get_xy"),
        ("?*?", "a"),
        ("aba*aba", "aba"),
        ("a*b*b", "ab"),
        ("*ab*b", "xab"),
        ("a.c", "abc"),
        ("[ab]", "a"),
        ("", "a"),
    ],
)
def test_a_pattern_does_not_match_a_part_or_another_case(pattern: str, text: str) -> None:
    assert not glob(pattern)(text)


@settings(deadline=None)
@given(pattern=st.text("ab*?", max_size=8), text=st.text("ab\n", max_size=10))
def test_a_glob_agrees_with_the_regular_expression_it_stands_for(pattern: str, text: str) -> None:
    expression = "".join({"*": ".*", "?": "."}.get(char, char) for char in pattern)
    assert glob(pattern)(text) == (re.fullmatch(expression, text, re.DOTALL) is not None)


@pytest.mark.parametrize("pattern", ["*a" * 20 + "*b", "*a?" * 20 + "b"])
def test_many_stars_over_hostile_text_stay_fast(pattern: str) -> None:
    began = time.process_time()
    assert not glob(pattern)("a" * 5_000)
    assert time.process_time() - began < 1


def test_an_empty_set_matches_nothing() -> None:
    assert not GlobSet([])
    assert not GlobSet([]).matches("")
    assert GlobSet([]).first("pay") is None


def test_a_set_matches_what_any_of_its_patterns_matches_and_names_the_first() -> None:
    patterns = GlobSet(["send_email", "crm_*", "crm_lookup"])
    assert patterns.matches("send_email")
    assert patterns.matches("crm_update")
    assert not patterns.matches("send_email_now")
    assert patterns.first("crm_lookup") == "crm_*"


def test_sets_of_the_same_patterns_are_equal() -> None:
    assert GlobSet(["a", "b*"]) == GlobSet(("a", "b*"))
    assert hash(GlobSet(["a"])) == hash(GlobSet(["a"]))
    assert GlobSet(["a"]) != GlobSet(["b"])
    assert repr(GlobSet(["a"])) == "GlobSet(['a'])"
