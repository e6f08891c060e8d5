"""Signed statements of where every chain stood, so that cutting the end off shows too.

Takes: heads of chains and a signing key.  Gives: signed checkpoints, each naming the one before.
Never: reads a key from the store; the key and the anchor live outside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from ringfence.audit.chain import GENESIS, Head, sha256, spell


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """One signed statement; `statement` is the exact text that was signed."""

    number: int
    statement: str
    signature: str

    @cached_property
    def hash(self) -> str:
        return sha256(self.statement)

    def line(self) -> str:
        """The checkpoint as one line of an anchor."""
        return spell({"number": self.number, "statement": self.statement, "signature": self.signature})


@dataclass(frozen=True, kw_only=True)
class Statement:
    """What a checkpoint says."""

    number: int
    previous: str
    key: str
    at: str
    through: int
    heads: tuple[Head, ...]


def key_fingerprint(key: Ed25519PublicKey) -> str:
    """The name of a public key, short enough to write down."""
    return "ed25519:" + sha256(key.public_bytes(Encoding.Raw, PublicFormat.Raw).hex())[:40]


def sign(
    heads: Iterable[Head], *, through: int, after: Checkpoint | None, at: str, key: Ed25519PrivateKey
) -> Checkpoint:
    """The next checkpoint: these chains stood here, and nothing before was changed."""
    number = after.number + 1 if after else 1
    statement = spell(
        {
            "number": number,
            "previous": after.hash if after else GENESIS,
            "key": key_fingerprint(key.public_key()),
            "at": at,
            "through": through,
            "heads": [[head.writer, head.seq, head.hash] for head in heads],
        }
    )
    return Checkpoint(number=number, statement=statement, signature=key.sign(statement.encode()).hex())


def read_statement(checkpoint: Checkpoint) -> Statement | None:
    """What a checkpoint says, or nothing if it does not say it in our form."""
    try:
        said = json.loads(checkpoint.statement)
        heads = tuple(Head(writer=writer, seq=seq, hash=hash_) for writer, seq, hash_ in said["heads"])
        return Statement(
            number=said["number"],
            previous=said["previous"],
            key=said["key"],
            at=said["at"],
            through=said["through"],
            heads=heads,
        )
    except (ValueError, KeyError, TypeError):
        return None


def read_line(line: str) -> Checkpoint | None:
    """A checkpoint from one line of an anchor, or nothing if the line is no checkpoint."""
    try:
        said = json.loads(line)
        return Checkpoint(number=said["number"], statement=said["statement"], signature=said["signature"])
    except (ValueError, KeyError, TypeError):
        return None


def is_signed(checkpoint: Checkpoint, *, key: Ed25519PublicKey) -> bool:
    try:
        key.verify(bytes.fromhex(checkpoint.signature), checkpoint.statement.encode())
    except (InvalidSignature, ValueError):
        return False
    return True
