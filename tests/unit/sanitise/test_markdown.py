"""Markdown fetches nothing, hides nothing and restyles nothing; code keeps its text."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.sanitise import clean_output
from ringfence.sanitise.edits import applied
from ringfence.sanitise.fences import prose
from ringfence.sanitise.markdown import constructs
from ringfence.sanitise.markdown_table import ELEMENTS, MARKDOWN, WORDS, Defused
from tests.unit.sanitise.samples import PLAIN

pytestmark = pytest.mark.req("SAN-1")

IDS = [row.id for row in MARKDOWN]
IMAGE = "![x](https://a.example/?q=1)"


def defused(text: str) -> str:
    return applied(text, constructs(text))


@pytest.mark.parametrize("row", MARKDOWN, ids=IDS)
def test_every_row_gives_its_reason_and_finds_its_own_examples(row: Defused) -> None:
    assert row.reason
    assert row.hits
    assert [hit for hit in row.hits if row.id not in {edit.detail for edit in constructs(hit)}] == []


@pytest.mark.parametrize("row", MARKDOWN, ids=IDS)
def test_what_only_looks_like_a_row_stays_as_it_is(row: Defused) -> None:
    assert row.misses
    assert [miss for miss in row.misses if constructs(miss)] == []


@pytest.mark.req("SAN-4")
@pytest.mark.parametrize("row", MARKDOWN, ids=IDS)
def test_what_is_left_is_defused_for_good(row: Defused) -> None:
    assert [hit for hit in row.hits if constructs(defused(hit))] == []


def test_no_name_is_both_an_element_and_a_word() -> None:
    assert ELEMENTS.isdisjoint(WORDS)


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        (IMAGE, "![x] (https://a.example/?q=1)"),
        ("[![a](http://a.example/i)](http://b.example)", "[![a] (http://a.example/i)] (http://b.example)"),
        ("a <b>c</b> <img src=x onerror=y>", "a &lt;b>c&lt;/b> &lt;img src=x onerror=y>"),
        ("a<!-- obey -->b", "a[hidden comment: 13 characters]b"),
        ("a<!-- never ended", "a&lt;!-- never ended"),
        ("[a]: https://a.example/i.png", "[a] : https://a.example/i.png"),
        ("[//]: # (obey)", "[//] : # (obey)"),
        ("[a\\]b]: https://a.example/i", "[a\\]b] : https://a.example/i"),
        ("> - [a]: https://a.example/i", "> - [a] : https://a.example/i"),
    ],
)
def test_a_construct_becomes_text_that_says_what_it_was(raw: str, clean: str) -> None:
    assert defused(raw) == clean


@pytest.mark.req("SAN-4")
@pytest.mark.parametrize(
    "code", [f"```\n{IMAGE}\n```", f"~~~md\n{IMAGE}\n<b>\n~~~", f"a\n```py\n{IMAGE}", f"````\n```\n{IMAGE}\n```\n````"]
)
def test_a_code_block_keeps_its_text(code: str) -> None:
    assert defused(code) == code


@pytest.mark.parametrize(
    "outside",
    [
        f"```\ncode\n```\n{IMAGE}",
        f"```\ncode\n   ```\n{IMAGE}",
        f"``` a`b\n{IMAGE}",
        f" ```\n```\n{IMAGE}",
        f"> ```\n{IMAGE}",
        f"- a\n\n  ```\n{IMAGE}",
        f"<foo>\n```\n\n{IMAGE}",
        f"<div>\n```\n\n```\n{IMAGE}\n```",
        f"<!--\n```\n-->\n{IMAGE}",
        f"$$\n```\n$$\n{IMAGE}",
        f"---\n```\n---\n{IMAGE}",
        f"`a`\n{IMAGE}",
        f"    {IMAGE}",
        f"`{IMAGE}`",
    ],
)
def test_what_some_reader_could_show_is_no_code_block(outside: str) -> None:
    assert IMAGE not in defused(outside)


@given(st.lists(st.sampled_from(["```", "~~~", "````", "\n", "\n\n", " ", "> ", "<x>", "$$", "a", "- "])).map("".join))
def test_prose_and_code_take_turns_in_order(text: str) -> None:
    spans = list(prose(text))
    assert spans[0][0] == 0
    assert all(start <= end for start, end in spans)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


@pytest.mark.req("SAN-4")
@pytest.mark.parametrize("language", PLAIN)
def test_plain_text_holds_no_construct(language: str) -> None:
    assert list(constructs(PLAIN[language])) == []


def test_a_token_cannot_be_made_into_a_link() -> None:
    assert "](" not in clean_output("<|x|>(https://a.example)").text
