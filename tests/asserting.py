"""Assertions that several rooms' tests share; the name of each says that it asserts.

Takes: what a test did.  Gives: nothing.  Never: passes without having looked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec

Given = ParamSpec("Given")


def assert_accepts(check: Callable[Given, None], *given: Given.args, **named: Given.kwargs) -> None:
    """The check has nothing against this: it raises nothing."""
    try:
        check(*given, **named)
    except Exception as refusal:
        raise AssertionError(f"refused: {refusal}") from refusal
