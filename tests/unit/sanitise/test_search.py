"""A pattern that is easier to search for matches wherever the given one does."""

from __future__ import annotations

import pytest

from ringfence.sanitise.credential_format import written_out
from ringfence.sanitise.credentials import FORMATS
from ringfence.sanitise.search import can_begin, openings, search, without_counting
from ringfence.sanitise.signatures import SIGNATURES

pytestmark = pytest.mark.req("SAN-4")


@pytest.mark.parametrize(
    ("pattern", "opening"),
    [
        (r"\bab_[c-d]{2,}e", r"\bab_[c-d]{2}"),
        (r"ab[0-9]{40}\b", "ab[0-9]{8}"),
        (r"(?:ab|c[d-e])_[f-g]+", "(?:ab|c[d-e])_[f-g]{1}"),
        (r"a(?:b[c-d]{3}x|e)f", "a(?:b[c-d]{3}|e)"),
        (r"a(?:bc)?d", "a"),
        (r"a\.[b-c]*d|ef", r"a\.|ef"),
        (r"a[b-c]{0,3}d", "a"),
    ],
)
def test_an_opening_ends_where_length_begins_to_vary(pattern: str, opening: str) -> None:
    assert openings(pattern) == opening


@pytest.mark.parametrize("row", FORMATS, ids=[row.id for row in FORMATS])
def test_every_example_is_found_by_the_opening_of_its_own_row(row: tuple[str, ...]) -> None:
    _, _, pattern, found, *_ = row
    assert list(search(openings(pattern)).finditer(written_out(found).encode()))


@pytest.mark.parametrize("row", FORMATS, ids=[row.id for row in FORMATS])
def test_every_example_begins_as_its_row_can(row: tuple[str, ...]) -> None:
    _, _, pattern, found, *_ = row
    text = written_out(found)
    hits = [text[hit.start()] for hit in search(pattern).finditer(text.encode())]
    assert hits
    assert all(can_begin(pattern, first) for first in hits)


@pytest.mark.parametrize(
    ("pattern", "first", "can"),
    [
        ("abc", "a", "it can"),
        ("abc", "b", "it cannot"),
        ("[ab]c", "b", "it can"),
        ("[ab]c", "c", "it cannot"),
        ("a?b", "b", "it can"),
        ("a{0,3}b", "b", "it can"),
        ("(?:a|b)c", "b", "it can"),
        ("ab|cd", "c", "it can"),
        (r"\bab", "a", "it can"),
        (r"\.a", ".", "it can"),
    ],
)
def test_a_pattern_is_left_out_only_where_it_cannot_begin(pattern: str, first: str, can: str) -> None:
    assert can_begin(pattern, first) is (can == "it can")


@pytest.mark.parametrize("row", SIGNATURES, ids=[row.id for row in SIGNATURES])
def test_every_example_is_found_without_counting(row: tuple[str, ...]) -> None:
    *_, pattern, found, _ = row
    assert list(search(without_counting(pattern), case="ignored", encoding="utf-8").finditer(found.encode()))


def test_nothing_is_counted_without_counting() -> None:
    assert without_counting(r"a{2,}b{0,4}?[c]{3}") == "a+b*[c]+"
