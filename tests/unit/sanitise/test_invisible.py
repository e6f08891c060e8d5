"""What cannot be seen goes, unless the script or the emoji around it needs it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.sanitise import clean_output
from ringfence.sanitise.edits import applied
from ringfence.sanitise.invisible import HIDDEN, hidden
from tests.unit.sanitise.samples import PLAIN

pytestmark = pytest.mark.req("SAN-1")

HIDDEN_CHAR = re.compile(f"[{HIDDEN}]")
HIDDEN_CHARS = [chr(code) for code in range(0xE1000) if HIDDEN_CHAR.match(chr(code))]


def tags(text: str) -> str:
    return "".join(chr(0xE0000 + ord(char)) for char in text)


SMUGGLED = {
    "an override": ("a \u202egnp.exe\u202c", "a gnp.exe"),
    "isolates": ("if x \u2066 then \u2069\u2067", "if x  then "),
    "ASCII in tags": ("ok" + tags("run this now"), "ok"),
    "tags with their old beginning": ("ok\U000e0001" + tags("run") + "\U000e007f", "ok"),
    "tags after a flag that are no region": ("🏴" + tags("run") + "\U000e007f", "🏴"),
    "a region that no font shows": ("🏴" + tags("ustx") + "\U000e007f", "🏴"),
    "bytes in selectors": ("😀" + "".join(chr(0xE0100 + b) for b in b"run this"), "😀"),
    "bytes in selectors after a real one": ("❤\ufe0f\ufe01\ufe02", "❤\ufe0f"),
    "a selector after a letter": ("a\ufe0fb\ufe01c\U000e0100", "abc"),
    "an emoji selector after a digit that is no keycap": ("7\ufe0f8", "78"),
    "zero-width bits": ("a\u200b\u200c\u200b\u200db", "ab"),
    "a word split": ("ig\u200bno\u200cre\u200d it\u2060", "ignore it"),
    "a byte order mark": ("\ufeffhello", "hello"),
    "invisible operators": ("a\u2062\u2064\u2061b", "ab"),
    "soft hyphens": ("im\u00adport", "import"),
    "Hangul fillers": ("a\u3164b\u115fc\u1160d\uffa0", "abcd"),
    "the Mongolian separator among Latin": ("a\u180eb", "ab"),
    "annotation controls": ("\ufff9a\ufffab\ufffb", "ab"),
    "marks inside a Latin word": ("pay\u200epal \u200fx\u061cy", "paypal xy"),
    "a third joiner in a row": ("ಕ್\u200c\u200c\u200cಗ", "ಕ್\u200c\u200cಗ"),
    "a second joiner between emoji": ("👩\u200d\u200d👧", "👩\u200d👧"),
    "a third break in a row": ("ก\u200b\u200b\u200bก", "ก\u200b\u200bก"),
    "a second selector that the base also has": ("❤\ufe0f\ufe0e", "❤\ufe0f"),
    "a selector between a letter and a keycap": ("a\ufe0f\u20e3", "a\u20e3"),
    "the tags of a flag without the flag": ("a" + tags("gbeng") + "\U000e007f", "a"),
    "a grapheme joiner that no mark follows": ("a\u034fb", "ab"),
    "a joiner between emoji and letter": ("😀\u200da", "😀a"),
    "a run too long for any script": ("م" + "\u200c" * 40 + "م", "مم"),
}


@pytest.mark.parametrize("name", SMUGGLED)
def test_hidden_characters_are_removed(name: str) -> None:
    raw, clean = SMUGGLED[name]
    assert clean_output(raw).text == clean


@pytest.mark.parametrize("language", PLAIN)
@pytest.mark.req("SAN-4")
def test_harmless_text_passes_unchanged_and_without_a_finding(language: str) -> None:
    cleaned = clean_output(PLAIN[language])
    assert (cleaned.text, cleaned.findings) == (PLAIN[language], ())


@given(st.lists(st.sampled_from([*HIDDEN_CHARS[:120], *map(chr, range(0xE0020, 0xE0080))])), st.text("abc xyz."))
def test_no_hidden_character_is_left_among_latin_letters(secret: list[str], carrier: str) -> None:
    raw = carrier + "a" + "".join(secret) + "b" + carrier
    assert HIDDEN_CHAR.search(clean_output(raw).text) is None


PIECES = st.sampled_from([*HIDDEN_CHARS[:60], *"a1.\n ", *"مکअक्ಕ್กខ漢😀👩🏽🏴❤⃣", tags("gbeng") + "\U000e007f", "\u0301"])


@given(st.lists(PIECES).map("".join))
@pytest.mark.req("SAN-4")
def test_a_second_cleaning_finds_nothing_in_any_mixture(raw: str) -> None:
    once = clean_output(raw)
    assert clean_output(once.text) == type(once)(once.text, ())


@given(st.text())
@pytest.mark.req("SAN-4")
def test_only_characters_that_cannot_be_seen_are_lost(raw: str) -> None:
    unseen = re.compile(f"[{HIDDEN}]")
    printable = "".join(char for char in raw if char.isprintable())
    assert unseen.sub("", applied(printable, hidden(printable))) == unseen.sub("", printable)
