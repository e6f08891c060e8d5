"""How a tool answers whether a call under a key took effect: it did, it did not, or that cannot be told.

Takes: the author's `reconcile` function.  Gives: a `Reconciler` whose parameters are known, or a refusal.
Never: calls the function, and never takes silence for an answer.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ringfence.contract.context import Context
from ringfence.errors import DeclarationRefused

Output = TypeVar("Output")
KEY = "key"


@dataclass(frozen=True)
class Done(Generic[Output]):
    """The call took effect; `output` is what the tool would have returned."""

    output: Output


@dataclass(frozen=True)
class NotDone:
    """The call did not take effect and will not any more: it may be made again."""


@dataclass(frozen=True)
class CannotTell:
    """Neither is known; a person is asked."""


@dataclass(frozen=True, kw_only=True)
class Reconciler:
    """The author's function, and how it wants to be called."""

    function: Callable[..., Any]
    context_parameter: str | None


def read_reconciler(function: Callable[..., Any]) -> Reconciler:
    """A function of a key, and of a context where it wants one; any other is refused."""
    remedy = "write it as `def reconcile(ctx: Context, key: str)`; the context may be left out"
    try:
        hints = typing.get_type_hints(function)
        parameters = tuple(inspect.signature(function).parameters.values())
    except (NameError, TypeError, ValueError) as error:
        raise DeclarationRefused(f"`reconcile` cannot be read: {error}", remedy=remedy) from error
    contexts = [each.name for each in parameters if hints.get(each.name) is Context]
    others = [each for each in parameters if each.name not in contexts]
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    named = all(each.kind in kinds for each in parameters)
    if not named or len(contexts) > 1 or [(each.name, hints.get(each.name)) for each in others] != [(KEY, str)]:
        raise DeclarationRefused("`reconcile` takes a `key: str`, and a context if it wants one", remedy=remedy)
    return Reconciler(function=function, context_parameter=contexts[0] if contexts else None)
