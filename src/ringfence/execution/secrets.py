"""What a secret is to the runtime: a value that nobody can print, and a source that it is read from again and again.

Takes: text from a source.  Gives: values that show their name, and one that the edge can place.
Never: shows a value: not as text, in a log, a copy, a pickle, or among the locals of a traceback.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, Protocol

from ringfence.errors import CallRefused

LEAST_CHARACTERS = 8
MOST_CHARACTERS = 4_096


class SecretUnavailable(CallRefused):
    """A source did not give a value that can be used; says why, and never what it gave."""

    code = "not_available"


class SecretValue:
    """One value. It is held where neither `vars` nor a pickler finds it, and `revealed` is the only way to it."""

    __slots__ = ("_of", "name")

    def __init__(self, name: str, value: str) -> None:
        self.name = name
        self._of: Callable[[], str] = lambda: value

    def revealed(self) -> str:
        """The value itself. Use it within an expression: a name for it would be a local that a traceback can show."""
        return self._of()

    def mark(self, key: bytes) -> str:
        """A name for this value that says nothing about it to whoever lacks the key."""
        return hmac.new(key, f"{self.name}\0{self._of()}".encode(), hashlib.sha256).hexdigest()[:16]

    def problem(self) -> str | None:
        """Why this cannot be bound, if it cannot."""
        if len(self._of()) < LEAST_CHARACTERS:
            return f"has fewer than {LEAST_CHARACTERS} characters, so that hiding it would hide ordinary text"
        if len(self._of()) > MOST_CHARACTERS:
            return f"has more than {MOST_CHARACTERS} characters"
        if "\0" in self._of() or len(set(self._of())) == 1:
            return "is no credential: one character over and over, or a null"
        return None

    def same(self, other: SecretValue) -> bool:
        return hmac.compare_digest(self._of().encode(), other.revealed().encode())

    def __repr__(self) -> str:
        return f"[REDACTED:{self.name}]"

    __str__ = __repr__

    def __format__(self, format_spec: str) -> str:
        return repr(self)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a secret value cannot be copied or pickled")


@dataclass(frozen=True, kw_only=True)
class Fetched:
    """What a source gave, and the source's own word for which version that is, if it has one."""

    value: SecretValue
    version: str | None = None


class SecretSource(Protocol):
    """Where one secret is kept."""

    @property
    def kind(self) -> str:
        """What the config calls it."""
        ...

    @property
    def where(self) -> str:
        """The place, for a person to find it; never the value."""
        ...

    @property
    def lasts(self) -> float:
        """For how many seconds a value is used before the source is asked again; 0 where asking costs nothing."""
        ...

    def fetch(self) -> Fetched:
        """The value as it is now; `SecretUnavailable` where there is none. May block for as long as it must."""
        ...


class WritableSource(SecretSource, Protocol):
    """A source that `ringfence secrets set` can write to."""

    def store(self, value: SecretValue) -> None:
        """Keep this value from now on."""
        ...
