"""What a tool really said is kept, and nobody reads it without the key: the store holds it sealed.

Takes: a key of 32 bytes, and raw bytes about a call.  Gives: sealed text for the trail, and the bytes again.
Never: opens what was sealed with another key, about another call, or altered by a single bit.

Sealed text is `v1.KEY.TEXT`: the name of its key, then nonce and AES-256-GCM in base64. Nonces are random, which is
sound for 2^32 calls with one key.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from ringfence.audit.chain import sha256
from ringfence.contract.spelling import speller
from ringfence.errors import Misuse

KEY_BYTES = 32
_VERSION = "v1"
_NONCE_BYTES = 12
# In ASCII, since raw text may hold what UTF-8 does not have.
_spell = speller(letters="ascii", keys="as given", marks=(", ", ": "))


class Seal:
    """Seals and opens with one key."""

    def __init__(self, key: bytes) -> None:
        if len(key) != KEY_BYTES:
            raise Misuse(f"a key for raw output has {KEY_BYTES} bytes, not {len(key)}")
        self._cipher = AESGCM(key)
        self.name = sha256("ringfence raw output key " + key.hex())[:16]

    def __repr__(self) -> str:
        return f"Seal({self.name})"

    def sealed(self, document: dict[str, Any], *, about: str) -> str:
        """The document, for nobody's eyes, bound to the call that it is about."""
        nonce = os.urandom(_NONCE_BYTES)
        hidden = self._cipher.encrypt(nonce, _spell(document).encode("ascii"), about.encode())
        return f"{_VERSION}.{self.name}.{binascii.b2a_base64(nonce + hidden, newline=False).decode()}"

    def opened(self, sealed: str, *, about: str) -> dict[str, Any]:
        """The document again."""
        version, _, rest = sealed.partition(".")
        name, _, text = rest.partition(".")
        if version != _VERSION or name != self.name:
            raise Misuse("the raw output was sealed with another key", remedy="put back the `raw.key` of that time")
        try:
            both = base64.b64decode(text, validate=True)
            document: dict[str, Any] = json.loads(
                self._cipher.decrypt(both[:_NONCE_BYTES], both[_NONCE_BYTES:], about.encode())
            )
        except (binascii.Error, InvalidTag, ValueError):
            raise Misuse("the sealed raw output was altered, or is about another call") from None
        return document
