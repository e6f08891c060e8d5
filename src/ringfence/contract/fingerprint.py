"""One spelling for every value, and the hash of it.

Takes: JSON values.  Gives: RFC 8785 bytes and SHA-256 digests.  Never: hashes anything it did not spell itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import rfc8785


def canonical(value: Any) -> bytes:
    """The one spelling of a JSON value (RFC 8785)."""
    return rfc8785.dumps(value)


def digest(content: bytes) -> str:
    """The SHA-256 of some bytes, labelled with its algorithm."""
    return "sha256:" + hashlib.sha256(content).hexdigest()


def fingerprint(document: Mapping[str, Any]) -> str:
    """The name of a whole contract: equal only where every declared word is equal."""
    return digest(canonical(document))
