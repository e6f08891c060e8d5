"""A model that passes a known value is stopped before anything of it is looked at, kept or shown.

Takes: a case and the scrubber.  Gives: nothing, or `secret_in_arguments`.
Never: tells the model whose value it was, and keeps none of the arguments.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ringfence.errors import CallRefused
from ringfence.runtime.case import Case
from ringfence.sanitise.known import Scrubber

_DEEPEST = 80
# A wider number is no value of anybody's, and Python does not write it out.
_WIDEST = 8_192


def require_no_secret(case: Case, *, scrubber: Scrubber) -> None:
    """Refuse the call where its arguments hold a value; from then on the request has none."""
    if not scrubber.knows_any:
        return
    found = {name for text in _texts(case.request.arguments) for name in scrubber.names_in(text)}
    named = scrubber.names_in(case.request.tool)
    if not found and not named:
        return
    case.withheld = tuple(sorted(found | named))
    case.request = replace(case.request, tool=scrubber.scrubbed(case.request.tool), arguments={})
    raise CallRefused("an argument contains the value of a secret", code="secret_in_arguments")


def _texts(value: Any, *, depth: int = 0) -> Iterator[str]:
    """Every text in what a model passed; what is deeper than any contract allows is refused by the next stage."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple) and depth < _DEEPEST:
        pairs: list[Any] = list(value.items()) if isinstance(value, dict) else list(value)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
        for item in pairs:
            yield from _texts(item, depth=depth + 1)
    elif isinstance(value, float) or (isinstance(value, int) and value.bit_length() <= _WIDEST):
        yield str(value)
