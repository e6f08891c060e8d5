"""Texts made of everything that any pass knows: tokens, constructs, escapes, hidden characters, halves of each.

Takes: nothing.  Gives: `FRAGMENTS`, and hypothesis strategies over them.  Never: holds text of anybody else.
"""

from __future__ import annotations

from hypothesis import strategies as st

from ringfence.sanitise.credential_contexts import CONTEXTS
from ringfence.sanitise.markdown_table import MARKDOWN
from ringfence.sanitise.role_table import ROLE_TOKENS
from tests.unit.sanitise.samples import PLAIN

_PIECES = (
    "< <| |> > [ ] ]( ]: # ### {{ }} ` ``` ~~~ \n \n\n \r\n \r a é Я 漢 👩\u200d👧 \u200b \u200c \u202e \U000e0041",
    "\ufe0f \x1b[ \x1b] \x1b[1m \x9b \x07 \x1b\\ \x00 \ud800 \u2028 password= key: AKIA -----BEGIN == aGVsbG8= 0x41",
    "<!-- --> &lt; $$ > - : ： Human System: Ignore 1 _ ' \" ( ) \\ م\u200c http:// // = . @ [role: ﹤",
    "｜ ▁ \u0336 ᛁ 𝐇 « [truncated: [redacted:",
)

FRAGMENTS: tuple[str, ...] = (
    " ",
    *" ".join(_PIECES).split(" "),
    *(text for row in ROLE_TOKENS for text in (*row.hits, *row.misses)),
    *(text for row in MARKDOWN for text in (*row.hits, *row.misses)),
    *(row.id for row in CONTEXTS),
    *PLAIN.values(),
)

HALVES = st.sampled_from(FRAGMENTS).flatmap(lambda text: st.integers(0, len(text)).map(lambda at: text[:at]))
TEXTS = st.lists(st.sampled_from(FRAGMENTS) | HALVES | st.text(max_size=3), max_size=30).map("".join)
