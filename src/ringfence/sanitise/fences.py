"""Where Markdown ends and code begins: the parts of a text that no reader would take for code.

Takes: text.  Gives: the spans of prose, in order.  Never: takes for code what some reader could show as prose.

A block counts that is fenced at the very beginning of a line, up to its closing fence or the end. Where something before
a fence could make readers disagree on what it opens or closes (HTML, mathematics, a fence that is indented, quoted or
listed), nothing after it counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_OPENS = re.compile(r"(?:\A|(?<=\n))(?:(?P<ticks>`{3,})[^`\n]*|(?P<tildes>~{3,})[^\n]*)(?:\n|\Z)")
_CLOSES = re.compile(r"(?:\A|(?<=\n)) {0,3}(`{3,}|~{3,})[ \t\r]*(?=\n|\Z)")
_CONTAINERS = r"[ \t>*+\-0-9.)]"
_UNCLEAR = re.compile(rf"(?:\A|\n)(?:{_CONTAINERS}*+(?:\$\$|\\\[)|{_CONTAINERS}++(?:```|~~~)|---[ \t\r]*+\n)")
_TAG_LINE = re.compile(rf"(?:\A|\n){_CONTAINERS}*+<")


def prose(text: str) -> Iterator[tuple[int, int]]:
    """The spans of the text that are no code."""
    at = 0
    while (opening := _OPENS.search(text, at)) and not _is_unclear(text, start=at, fence=opening.start()):
        yield at, opening.start()
        at = _end(text, opening)
    yield at, len(text)


def _is_unclear(text: str, *, start: int, fence: int) -> bool:
    """Whether what stands before a fence leaves its meaning open; HTML does so up to the next empty line."""
    paragraph = max(text.rfind("\n\n", start, fence), start)
    return bool(_UNCLEAR.search(text, start, fence) or _TAG_LINE.search(text, paragraph, fence))


def _end(text: str, opening: re.Match[str]) -> int:
    fence = opening["ticks"] or opening["tildes"]
    for closing in _CLOSES.finditer(text, opening.end()):
        if closing[1].startswith(fence):
            return closing.end()
    return len(text)
