"""A secret as a tool holds it: a name that cannot be read, only placed.

Takes: a name and the placeholder that the edge will swap.  Gives: header values.  Never: shows a value.
"""

from __future__ import annotations

import base64
from typing import NoReturn

from ringfence.errors import CallFailed


class SecretRef(str):
    """Equal only to itself; as text, in JSON and pickled it is `[REDACTED:NAME]`, which is all the text it has."""

    __slots__ = ("_placeholder", "_revealed")

    def __new__(cls, name: str, *, placeholder: str, revealed: str | None = None) -> SecretRef:
        made = super().__new__(cls, f"[REDACTED:{name}]")
        made._placeholder = placeholder
        made._revealed = revealed
        return made

    _placeholder: str
    _revealed: str | None

    def bearer(self) -> str:
        """`Bearer …`, for an `Authorization` header."""
        return f"Bearer {self._placeholder}"

    def basic(self, user: str) -> str:
        """`Basic …` for a user whose password this secret is."""
        return "Basic " + base64.b64encode(f"{user}:{self._placeholder}".encode()).decode()

    def placeholder(self) -> str:
        """What stands for the value, by itself: for a header like `X-Api-Key`, or for the `auth` of a client."""
        return self._placeholder

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
        return str.__str__(self)

    __repr__ = __str__

    def __format__(self, format_spec: str) -> str:
        return str(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    __hash__ = object.__hash__

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return (str, (str(self),))

    def __copy__(self) -> NoReturn:
        raise TypeError("a secret reference cannot be copied")

    def __deepcopy__(self, memo: object) -> NoReturn:
        raise TypeError("a secret reference cannot be copied")
