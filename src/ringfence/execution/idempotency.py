"""The key under which a call must not happen twice.

Takes: the caller's key, or what the call is.  Gives: the key.  Never: lets one agent or tool reach another's keys.
"""

from __future__ import annotations

from typing import Any

from ringfence.contract.fingerprint import canonical, canonical_words, digest


def derive_key(*, session: str, turn: str, tool: str, arguments: dict[str, Any] | bytes) -> str:
    """The key of a call to which the caller gave none: the same call in the same turn has the same key.

    Arguments that are spelled already, canonically, are not spelled again.
    """
    spelled = arguments if isinstance(arguments, bytes) else canonical(arguments)
    rest = canonical_words(session=session, tool=tool, turn=turn)
    return digest(b'{"arguments":' + spelled + b"," + rest[1:])


def namespaced(key: str, *, agent: str, tool: str) -> str:
    """A key as it is kept: one agent's key for one tool is nobody else's."""
    return digest(canonical_words(agent=agent, key=key, tool=tool))
