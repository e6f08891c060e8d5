"""One spelling for every value, and the hash of it.

Takes: JSON values.  Gives: RFC 8785 bytes and SHA-256 digests.  Never: hashes anything it did not spell itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, cast

import rfc8785

_SAFE_INTEGER = 2**53 - 1
_plainly = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), check_circular=False).encode


def canonical(value: Any) -> bytes:
    """The one spelling of a JSON value (RFC 8785)."""
    return _plainly(value).encode() if _is_spelled_alike(value, 32) else rfc8785.dumps(value)


def _is_spelled_alike(value: Any, depth: int) -> bool:
    """Whether the standard encoder spells this as RFC 8785 does: no fractions, and keys that sort the same way.

    The standard encoder is some 20 times faster, and most arguments and cards are of this kind.
    """
    kind = cast("type[object]", type(value))
    if kind is str or kind is bool or value is None:
        return True
    if kind is int:
        return bool(-_SAFE_INTEGER <= value <= _SAFE_INTEGER)
    if depth == 0:
        return False
    if kind is list:
        return all(_is_spelled_alike(item, depth - 1) for item in value)
    if kind is dict:
        return all(
            type(key) is str and key.isascii() and _is_spelled_alike(item, depth - 1) for key, item in value.items()
        )
    return False


def digest(content: bytes) -> str:
    """The SHA-256 of some bytes, labelled with its algorithm."""
    return "sha256:" + hashlib.sha256(content).hexdigest()


def fingerprint(document: Mapping[str, Any]) -> str:
    """The name of a whole contract: equal only where every declared word is equal."""
    return digest(canonical(document))
