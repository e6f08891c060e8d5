"""What a person is asked to judge is shown as it is."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.sanitise import visible
from tests.unit.sanitise.samples import PLAIN

pytestmark = pytest.mark.req("SAN-1")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\u202eb", "a\\u{202e}b"),
        ("a\x1b[1m", "a\\u{1b}[1m"),
        ("a\nb\tc", "a\\u{a}b\\u{9}c"),
        ("a\u3164b\ufe01\u200b", "a\\u{3164}b\\u{fe01}\\u{200b}"),
        ("a\u00a0b", "a\\u{a0}b"),
        ("\u200f5", "\\u{200f}5"),
        ("a\ud800\U000e0041", "a\\u{d800}\\u{e0041}"),
        ("\\u{202e}", "\\u{5c}u{202e}"),
        ("C:\\users", "C:\\users"),
    ],
)
def test_the_unseen_is_spelled_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_many_lines_keep_their_breaks_and_tabs() -> None:
    assert visible("a\r\n\tb\x00", lines="many") == "a\\u{d}\n\tb\\u{0}"


@pytest.mark.parametrize("language", ["Persian", "Hindi", "Sinhala", "Thai", "Japanese", "Chinese"])
def test_joiners_that_a_script_needs_stay_readable(language: str) -> None:
    assert visible(PLAIN[language]) == PLAIN[language]


@given(st.text() | st.text("\\u{}a\n\u200b"))
def test_the_text_can_be_read_back_so_no_two_texts_look_the_same(text: str) -> None:
    assert re.sub(r"\\u\{([0-9a-f]+)\}", lambda match: chr(int(match[1], 16)), visible(text)) == text


@given(st.text())
def test_one_line_is_one_line(text: str) -> None:
    assert len(visible(text).splitlines()) <= 1
