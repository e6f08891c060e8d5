"""Puts the comparison between its two marks on a page, and reads it back.

Takes: a page and a section.  Gives: the page with the section replaced.  Never: a page without both marks.
"""

from __future__ import annotations

BEGINS = "<!-- made by `ringfence bench peers`; do not edit by hand -->"
ENDS = "<!-- end of what `ringfence bench peers` made -->"


def replaced(page: str, *, section: str) -> str:
    """The page with what was between the marks replaced."""
    before, _, after = _parts(page)
    return f"{before}{BEGINS}\n\n{section.strip()}\n\n{ENDS}{after}"


def section_of(page: str) -> str:
    return _parts(page)[1].strip()


def _parts(page: str) -> tuple[str, str, str]:
    if page.count(BEGINS) != 1 or page.count(ENDS) != 1 or page.index(BEGINS) > page.index(ENDS):
        raise ValueError("the page does not have both marks of the comparison, in order and once")
    before, rest = page.split(BEGINS)
    between, after = rest.split(ENDS)
    return before, between, after
