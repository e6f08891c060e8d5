"""Did you mean: the known word nearest to an unknown one.

Takes: a word and the words that exist.  Gives: the rest of a message.  Never: corrects anything by itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

_LONGEST = 64
_SHORTEST = 3
_NEAR = 0.6
_MOST_COMPARED = 500
_MOST_LISTED = 16


def nearest(word: str, *, known: Iterable[str]) -> str | None:
    """The known word that reads most alike, if any does."""
    folded = {_fold(name): name for name in islice(known, _MOST_COMPARED)}
    asked = _fold(word[:_LONGEST])
    begun = [name for name in folded if len(asked) >= _SHORTEST and (name.startswith(asked) or asked.startswith(name))]
    found = begun if len(begun) == 1 else get_close_matches(asked, folded, n=1, cutoff=_NEAR)
    return folded[found[0]] if found else None


def did_you_mean(word: str, *, known: Iterable[str]) -> str:
    """A remedy: the nearest known word, or all of them where none is near."""
    names = list(known)
    near = nearest(word, known=names)
    if near is not None:
        return f"did you mean `{near}`?"
    if not names:
        return "there is none"
    listed = ", ".join(f"`{name}`" for name in names[:_MOST_LISTED])
    return f"known are {listed}" + (" and others" if len(names) > _MOST_LISTED else "")


def _fold(word: str) -> str:
    return word.casefold().replace("-", "_")
