"""Tells JSON objects and lists from everything else, in a way that type checkers believe.

Takes: any value.  Gives: yes or no.  Never: looks inside.
"""

from __future__ import annotations

from typing import Any, TypeGuard


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)
