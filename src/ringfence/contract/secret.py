"""A secret as a tool holds it: a name that cannot be read, only placed.

Takes: a name and the placeholder that the edge will swap.  Gives: header values.  Never: shows a value.
"""

from __future__ import annotations

import base64
from typing import NoReturn

from ringfence.errors import CallFailed


class SecretRef:
    """Equal only to itself; as text, in JSON and pickled it is `[REDACTED:NAME]`."""

    __slots__ = ("_name", "_placeholder", "_revealed")

    def __init__(self, name: str, *, placeholder: str, revealed: str | None = None) -> None:
        self._name = name
        self._placeholder = placeholder
        self._revealed = revealed

    def bearer(self) -> str:
        """`Bearer …`, for an `Authorization` header."""
        return f"Bearer {self._placeholder}"

    def basic(self, user: str) -> str:
        """`Basic …` for a user whose password this secret is."""
        return "Basic " + base64.b64encode(f"{user}:{self._placeholder}".encode()).decode()

    def raw(self) -> str:
        """The value itself; only for a tool that declares `reveal=True`."""
        if self._revealed is None:
            raise CallFailed(
                f"the value of {self} stays outside the jail",
                code="secret_not_declared",
                remedy="place it with `.bearer()` or `.basic(user)`, or declare `reveal=True`",
            )
        return self._revealed

    def __str__(self) -> str:
        return f"[REDACTED:{self._name}]"

    __repr__ = __str__

    def __format__(self, format_spec: str) -> str:
        return str(self)

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return (str, (str(self),))

    def __copy__(self) -> NoReturn:
        raise TypeError("a secret reference cannot be copied")

    def __deepcopy__(self, memo: object) -> NoReturn:
        raise TypeError("a secret reference cannot be copied")
