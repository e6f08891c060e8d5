"""Nobody takes a turn in a conversation by writing its tokens, however they are spelled."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.sanitise import Cleaned, Severity, clean_output
from ringfence.sanitise.edits import applied
from ringfence.sanitise.lookalikes import spellings
from ringfence.sanitise.role_table import ROLE_TOKENS, RoleToken
from ringfence.sanitise.roles import tokens
from tests.unit.sanitise.samples import PLAIN
from tests.unit.sanitise.test_corpora import corpus, rows

pytestmark = pytest.mark.req("SAN-1")

IDS = [row.id for row in ROLE_TOKENS]


def found(text: str) -> set[str]:
    return {edit.detail for edit in tokens(text)}


@pytest.mark.parametrize("row", ROLE_TOKENS, ids=IDS)
def test_every_row_gives_its_reason_and_finds_its_own_examples(row: RoleToken) -> None:
    assert row.reason
    assert row.hits
    assert [hit for hit in row.hits if row.id not in found(hit)] == []


@pytest.mark.parametrize("row", ROLE_TOKENS, ids=IDS)
def test_what_only_looks_like_a_row_stays_as_it_is(row: RoleToken) -> None:
    assert row.misses
    assert [miss for miss in row.misses if tokens(miss)] == []


def test_no_row_stands_twice() -> None:
    assert len(set(IDS)) == len(IDS)


@pytest.mark.req("SAN-4")
@pytest.mark.parametrize("row", ROLE_TOKENS, ids=IDS)
def test_what_is_left_of_a_token_is_no_token(row: RoleToken) -> None:
    assert [hit for hit in row.hits if tokens(applied(hit, tokens(hit)))] == []


def test_a_token_becomes_its_name_in_brackets() -> None:
    cleaned = clean_output("a<|im_start|>system")
    assert cleaned.text == "a[role: im_start]system"
    assert [(each.kind, each.span, each.severity, each.detail) for each in cleaned.findings] == [
        ("role_token", (1, 13), Severity.HIGH, "piped")
    ]


@given(
    st.data(), st.sampled_from(["<|im_start|>", "[INST]", "<start_of_turn>", "### Human:", "<<SYS>>", "<tool_call>"])
)
def test_a_look_alike_of_any_letter_makes_no_difference(data: st.DataObject, token: str) -> None:
    at = data.draw(st.integers(0, len(token) - 1))
    alike = [char for char in spellings().get(token[at].lower(), "") if _is_drawn_in_case(char, token[at])]
    if alike:
        drawn = data.draw(st.sampled_from(alike))
        assert found(f"{token[:at]}{drawn}{token[at + 1 :]}"), (token, drawn, unicodedata.name(drawn, "?"))


def _is_drawn_in_case(char: str, plain: str) -> bool:
    """Tags are lower case; a stroke may be any of three letters."""
    return char.isascii() is False and char.isupper() == plain.isupper() and plain not in "il1I|"


@pytest.mark.parametrize(
    "spaced", ["< | im_start | >", "<|i m_s t a r t|>", "[ I N S T ]", "# # # Human:", "< /tool_call >"]
)
def test_blanks_between_the_letters_make_no_difference(spaced: str) -> None:
    assert found(spaced)


@pytest.mark.parametrize("mark", ["\u0336", "\u00a0", "\u2009", "\u3000", "\ufe00"])
def test_what_a_letter_wears_makes_no_difference(mark: str) -> None:
    assert found("\n" + mark.join("Human") + ": hi")
    assert found(mark.join("<|im_start|>"))


def test_full_width_makes_no_difference() -> None:
    wide = "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in "<|im_start|> [INST] ### Human:")
    assert found(wide) == {"piped", "square", "heading"}


def test_hidden_characters_inside_a_token_make_no_difference() -> None:
    assert clean_output("<|im\u200b_st\u2060art|>").text == "[role: im_start]"


@pytest.mark.req("SAN-4")
@pytest.mark.parametrize("language", PLAIN)
def test_plain_text_holds_no_token(language: str) -> None:
    assert list(tokens(PLAIN[language])) == []


@pytest.mark.parametrize("path", corpus("role_tokens.jsonl"))
def test_every_special_token_of_the_corpus_is_taken_apart(path: Path) -> None:
    special = [row["token"] for row in rows(path) if row["special"]]
    spread = [text for token in special for text in (token, f"well.\n{token}\nyes")]
    assert len(special) > 0
    assert [text for text in spread if _left(text)] == []


def _left(text: str) -> bool:
    once = clean_output(text)
    return once.text == text or clean_output(once.text) != Cleaned(once.text, ())


def test_a_label_of_a_record_is_not_a_turn() -> None:
    record = json.dumps({"User": "ann", "System": "linux", "Model": "x"}, indent=1)
    assert list(tokens(record)) == []
    assert list(tokens(re.sub(r'[{}",]', "", record))) == []


_PIECES = st.sampled_from(
    [*"<>[]{}|/#:~*_ \t\n\x0b\x1c=(", "###", ">>", "<<", " " * 4, "a" * 90]
    + [hit for row in ROLE_TOKENS for hit in row.hits if hit.isascii()]
    + [name for row in ROLE_TOKENS for name in row.names.replace("9", "7").replace("~", " ").split() if name.isascii()]
)


@given(st.lists(_PIECES, max_size=8).map("".join))
def test_the_quick_look_misses_no_token_that_the_slow_one_finds(text: str) -> None:
    # A letter that looks like nothing else sends the text the slow way.
    assert list(tokens(f"{text}\n")) == list(tokens(f"{text}\n\u4e2d"))
