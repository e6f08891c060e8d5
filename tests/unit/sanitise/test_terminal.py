"""No terminal sequence survives, whatever its form, and what is not one does."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.sanitise import clean_output

pytestmark = pytest.mark.req("SAN-1")

CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)")
PIECES = st.sampled_from([*map(chr, range(0xA0)), "\x1b[", "\x1b]", "\x1b\\", "\r\n", "31m", "é", "漢", "😀", "\u2028"])

SEQUENCES = {
    "a colour": ("a\x1b[1;31mb\x1b[0mc", "abc"),
    "a colour by an 8-bit introducer": ("a\x9b1;31mb", "ab"),
    "a private mode": ("a\x1b[?2004hb", "ab"),
    "a sequence with intermediates": ("a\x1b[0 qb", "ab"),
    "a sequence with a control in its middle": ("a\x1b[3\x001mb", "ab"),
    "a sequence cut short by the end": ("a\x1b[38;5", "a"),
    "a sequence cut short by another script": ("a\x1b[3é", "aé"),
    "a title ended by BEL": ("a\x1b]0;title\x07b", "ab"),
    "a title ended by ST": ("a\x1b]0;title\x1b\\b", "ab"),
    "a title in 8 bits": ("a\x9d0;title\x9cb", "ab"),
    "a link": ("\x1b]8;;https://x.example\x1b\\text\x1b]8;;\x1b\\", "text"),
    "a device string over lines": ("a\x1bPq#0\n#1\x1b\\b", "ab"),
    "a device string in which BEL is content": ("a\x1bP1\x072\x1b\\b", "ab"),
    "an application command": ("a\x1b_Gx=1\x1b\\b", "ab"),
    "a privacy message": ("a\x1b^secret\x1b\\b", "ab"),
    "a start of string in 8 bits": ("a\x98secret\x9cb", "ab"),
    "a string aborted by CAN": ("a\x1b]0;t\x18b", "ab"),
    "a string aborted by another sequence": ("a\x1b]0;t\x1b[1mb", "ab"),
    "a string that nobody ends": ("a\x1b]0;title\nb", "a\nb"),
    "a character set": ("a\x1b(0b", "ab"),
    "a full reset": ("a\x1bcb", "ab"),
    "an escape after an escape": ("a\x1b\x1b[1mb", "ab"),
    "an escape at the end": ("a\x1b", "a"),
    "a bell and a backspace": ("a\x07\x08b", "ab"),
    "a delete": ("a\x7fb", "ab"),
    "a bare C1": ("a\x84\x99b", "ab"),
    "an introducer after a bare control": ("a\x00\x98secret\x9cb", "ab"),
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_a_sequence_is_removed_and_the_text_around_it_stays(name: str) -> None:
    raw, clean = SEQUENCES[name]
    assert clean_output(raw).text == clean


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("a\rb", "a\nb"),
        ("a\x0bb\x0cc", "a\nb\nc"),
        ("a\x85b", "a\nb"),
        ("a\u2028b\u2029", "a\nb\n"),
        ("\r\r\n", "\n\r\n"),
    ],
)
def test_a_break_that_only_some_readers_see_becomes_a_line_feed(raw: str, clean: str) -> None:
    assert clean_output(raw).text == clean


@pytest.mark.parametrize("text", ["a\r\nb\tc\n", "\\x1b[31m as text", "[31m", "caf\xe9 \xa0"])
@pytest.mark.req("SAN-4")
def test_text_that_only_resembles_a_sequence_stays(text: str) -> None:
    assert clean_output(text).text == text


@pytest.mark.req("SAN-4")
def test_carriage_return_and_line_feed_stay_together_when_a_sequence_stood_between() -> None:
    assert clean_output("a\r\x1b[K\nb").text == "a\r\nb"


@given(st.lists(PIECES).map("".join))
@pytest.mark.req("SAN-4")
def test_nothing_a_terminal_obeys_is_left(raw: str) -> None:
    cleaned = clean_output(raw)
    assert CONTROL.search(cleaned.text) is None
    assert clean_output(cleaned.text).findings == ()


@pytest.mark.parametrize(
    "unit", ["\x1b]", "\x9d\n", "\x1bP\n", "\x1b[", "\x1b[1;", "\x1b", "\x98a", "\x1b]a\x1b", "\r", "a\x00"]
)
@pytest.mark.req("SAN-4")
def test_hostile_repetition_takes_linear_time(unit: str) -> None:
    def seconds(times: int) -> float:
        raw = unit * times
        best = float("inf")
        for _ in range(3):
            began = time.process_time()
            clean_output(raw)
            best = min(best, time.process_time() - began)
        return best

    assert seconds(32_000) < 8 * 3 * max(seconds(4_000), 0.001)
