"""The text of an HTML page, without its markup, in time proportional to its length whatever the page is.

Takes: a page.  Gives: what a reader would read, a block a line.  Never: fetches or runs anything in it, or reads any
part of it twice. The standard library's parser does, and a hostile page of some kilobytes keeps it busy for minutes.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

_UNREAD = frozenset({"script", "style", "template", "noscript", "svg", "iframe", "object"})
_BLOCKS = frozenset(
    {
        "address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "figure", "footer", "form", "h1",
        "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre", "section", "table", "td",
        "th", "title", "tr", "ul",
    }
)  # fmt: skip
_TAG = re.compile(r"</?([A-Za-z][A-Za-z0-9:-]{0,63})")
_END_OR_QUOTE = re.compile(r"[>\"']")
_ENDS = {name: re.compile(f"</{name}", re.IGNORECASE) for name in _UNREAD}


def plain_text(page: str) -> str:
    """What a reader would read of a page."""
    lines = (" ".join(line.split()) for line in html.unescape("".join(_pieces(page))).split("\n"))
    return "\n".join(line for line in lines if line)


def _pieces(page: str) -> Iterator[str]:
    at = 0
    while 0 <= at < len(page):
        opening = page.find("<", at)
        if opening < 0:
            yield _one_line(page[at:])
            return
        yield _one_line(page[at:opening])
        tag = _TAG.match(page, opening)
        if tag is not None:
            name = tag[1].lower()
            at = _after_tag(page, tag.end())
            if name in _BLOCKS:
                yield "\n"
            if name in _UNREAD and page[opening + 1] != "/":
                at = _after_unread(page, at, name=name)
        elif page.startswith(("<!", "<?"), opening):
            at = _after_remark(page, opening)
        else:
            yield "<"
            at = opening + 1


def _one_line(text: str) -> str:
    """Where a line ends in the source says nothing about where one ends on the page."""
    return text.replace("\n", " ").replace("\r", " ")


def _after_tag(page: str, at: int) -> int:
    """Where a tag is over; below 0 where it never is. What stands in quotes does not end it."""
    while found := _END_OR_QUOTE.search(page, at):
        if found[0] == ">":
            return found.end()
        at = page.find(found[0], found.end()) + 1
        if at == 0:
            return -1
    return -1


def _after_unread(page: str, at: int, *, name: str) -> int:
    ending = _ENDS[name].search(page, at) if at >= 0 else None
    return -1 if ending is None else ending.start()


def _after_remark(page: str, at: int) -> int:
    ending = "-->" if page.startswith("<!--", at) else ">"
    found = page.find(ending, at + 2)
    return -1 if found < 0 else found + len(ending)
