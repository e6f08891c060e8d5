"""Markdown that would fetch, hide or restyle something is left as plain text that says what it was.

Takes: text without role tokens.  Gives: edits.  Never: changes what stands in a fenced code block.

What is found is changed as little as will do: `](` gets a blank, `<` becomes `&lt;`. Only comments are taken out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ringfence.sanitise.edits import Edit
from ringfence.sanitise.fences import prose
from ringfence.sanitise.markdown_table import ELEMENTS, MARKDOWN, WORDS

_SIGNS = ("](", "]:", "<")
_KINDS = {row.id: row.kind for row in MARKDOWN}
_LONGEST_LABEL = 1_000
_LABEL_BEGINS = re.compile(r"[ \t>*+\-0-9.)]{0,40}")
_NAME = re.compile(r"/?(?P<name>[A-Za-z][A-Za-z0-9]*)")
_ADDRESS_ENDS = re.compile(r":\s{0,3}+\S{0,4000}+[ \t]*+(?:[\r\n]|\Z|[\"'(])")


def _pattern() -> re.Pattern[str]:
    """All rows in one, behind a plain class by which the engine skips harmless text."""
    branches = (
        f"(?<={re.escape(first)})(?:{'|'.join(f'(?P<{row.id}>{row.rest})' for row in MARKDOWN if row.first == first)})"
        for first in dict.fromkeys(row.first for row in MARKDOWN)
    )
    firsts = "".join(re.escape(row.first) for row in MARKDOWN)
    return re.compile(f"[{firsts}](?:{'|'.join(branches)})", re.IGNORECASE)


_CONSTRUCT = _pattern()


def constructs(text: str) -> Sequence[Edit]:
    """Every construct outside code, defused."""
    if not any(sign in text for sign in _SIGNS):
        return ()
    return [edit for start, end in prose(text) for edit in _defused(text, start=start, end=end)]


def _defused(text: str, *, start: int, end: int) -> Iterator[Edit]:
    last_comment_end = text.rfind("-->", start, end) if text.find("<!--", start, end) >= 0 else -1
    while match := _CONSTRUCT.search(text, start, end):
        edit = _edit(text, match, last_comment_end=last_comment_end)
        start = edit.end if edit else match.end()
        if edit:
            yield edit


def _edit(text: str, match: re.Match[str], *, last_comment_end: int) -> Edit | None:
    row, at = match.lastgroup or "", match.start()
    if row == "comment" and at + 2 <= last_comment_end:
        end = text.find("-->", at + 2) + 3
        return Edit(at, end, _KINDS[row], f"[hidden comment: {end - at} characters]", row)
    if (row == "definition" and not _defines(text, at)) or (row == "element" and not _is_known(text, at)):
        return None
    return Edit(at, at + 1, _KINDS[row], "] " if match[0][0] == "]" else "&lt;", row)


def _is_known(text: str, at: int) -> bool:
    element = _NAME.match(text, at + 1)
    if element is None:
        return False
    name = element["name"].lower()
    return name in ELEMENTS or (name in WORDS and text[element.end() : element.end() + 1] not in (">", ""))


def _defines(text: str, at: int) -> bool:
    """Whether the bracket that closes here opened at the beginning of a line, and an address ends the line."""
    opened = text.rfind("[", max(at - _LONGEST_LABEL, 0), at)
    line = text.rfind("\n", max(opened - _LONGEST_LABEL, 0), max(opened, 0)) + 1
    begins = opened >= 0 and _LABEL_BEGINS.fullmatch(text, line, opened) is not None
    return (begins or text[opened - 1 : opened] == "\\") and _ADDRESS_ENDS.match(text, at + 1) is not None
