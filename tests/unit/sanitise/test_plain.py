"""The one look that spares plain text every pass never spares a text in which a pass would find something."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.sanitise.clean import is_plain, scan
from ringfence.sanitise.credential_contexts import CONTEXTS
from ringfence.sanitise.credential_format import written_out
from ringfence.sanitise.credentials import FORMATS
from ringfence.sanitise.markdown_table import MARKDOWN
from ringfence.sanitise.role_table import ROLE_TOKENS
from tests.unit.sanitise.test_corpora import corpus, rows

pytestmark = pytest.mark.req("SAN-4")

HITS = [
    *(written_out(row.found) for row in FORMATS),
    *(written_out(row.found) for row in CONTEXTS),
    *(hit for row in ROLE_TOKENS for hit in row.hits),
    *(hit for row in MARKDOWN for hit in row.hits),
]
# Words that stand before a credential or a turn, and pieces of what follows them.
TELLING = st.sampled_from(
    "password is token key secret Bearer AKIA ghp_ sk-live user system Human BEGIN PRIVATE KEY - -- / ;".split()  # noqa: SIM905  words are easier to read than a list of quotes
)
WORDS = st.lists(TELLING | st.text("abcXYZ019_,./+;'!?-", min_size=1, max_size=16), max_size=12).map(" ".join)


def test_no_example_of_any_table_is_taken_for_plain() -> None:
    assert len(HITS) > 150
    assert [hit for hit in HITS if is_plain(hit)] == []


@given(WORDS)
def test_what_is_taken_for_plain_has_no_finding(text: str) -> None:
    assert not is_plain(text) or scan(text) == ()


@pytest.mark.parametrize("text", ["get_user", "c-1042", "Called back on Tuesday; wants the invoice resent.", ""])
def test_everyday_words_are_plain(text: str) -> None:
    assert is_plain(text)


def strings(value: Any) -> Iterator[str]:
    """Every text in a row."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in cast("dict[str, Any]", value).values():
            yield from strings(inner)


@pytest.mark.parametrize("path", [*corpus("secrets_positive.jsonl"), *corpus("injection_positive.jsonl")])
def test_no_plain_text_of_the_corpora_has_a_finding(path: Path) -> None:
    plain = [text for row in rows(path) for text in strings(row) if is_plain(text)]
    assert [text for text in plain if scan(text)] == []
