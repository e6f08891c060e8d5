"""The whole trail in one file that proves itself elsewhere, without the store.

Takes: links, checkpoints and the signing key; elsewhere, the file and the key's fingerprint from outside.
Gives: lines to write, or a report.  Never: believes the key that a bundle brings along.

A bundle is JSONL: a header with the public key, every checkpoint, every link by writer and place, and a seal: the
signature over the SHA-256 of all lines before it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, BinaryIO

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from ringfence.audit.chain import Link, spell
from ringfence.audit.checkpoint import Checkpoint, key_fingerprint
from ringfence.audit.verify import Report, verify_trail
from ringfence.contract.shapes import is_object
from ringfence.errors import Misuse
from ringfence.sanitise import visible

FORMAT = "ringfence-audit-bundle"
VERSION = 1
_LONGEST_LINE = 64 << 20
_TEXTS = tuple(each.name for each in fields(Link) if each.name != "seq")
_MAY_BE_NOTHING = frozenset({"agent", "tool", "safety", "invocation_id", "body"})


def bundle_lines(
    links: Iterable[Link], *, checkpoints: Iterable[Checkpoint], at: str, key: Ed25519PrivateKey
) -> Iterator[bytes]:
    """The lines of a bundle, sealed with the key; `links` come ordered by writer and sequence."""
    running = hashlib.sha256()
    for document in _documents(links, checkpoints=checkpoints, at=at, key=key.public_key()):
        line = spell(document).encode() + b"\n"
        running.update(line)
        yield line
    sealed = _sealed(running.hexdigest())
    yield spell({"seal": key.sign(sealed).hex()}).encode() + b"\n"


def _documents(
    links: Iterable[Link], *, checkpoints: Iterable[Checkpoint], at: str, key: Ed25519PublicKey
) -> Iterator[dict[str, Any]]:
    raw = key.public_bytes(Encoding.Raw, PublicFormat.Raw).hex()
    yield {"format": FORMAT, "version": VERSION, "public_key": raw, "key": key_fingerprint(key), "at": at}
    for checkpoint in checkpoints:
        yield {"checkpoint": _checkpoint_document(checkpoint)}
    for link in links:
        yield {"link": vars(link)}


def _checkpoint_document(checkpoint: Checkpoint) -> dict[str, Any]:
    return {
        "number": checkpoint.number,
        "statement": checkpoint.statement,
        "signature": checkpoint.signature,
    }


def _sealed(digest: str) -> bytes:
    """What the seal signs; named, so that no other signature of this key can stand in for it."""
    return f"{FORMAT} {VERSION} {digest}".encode()


def verify_bundle(file: BinaryIO, *, key: str) -> Report:
    """Prove a bundle against the fingerprint of a key that the reader brought along."""
    reading = _Reading(file)
    public = _public_key(reading.document())
    checkpoints = [_checkpoint(document["checkpoint"]) for document in reading.of("checkpoint")]
    report = _walked(reading, checkpoints=checkpoints, key=public)
    problems = [*_foreign_key(report, key=key), *reading.seal_problems(public), *_uncovered(report)]
    return replace(report, problems=(*problems, *report.problems))


def _walked(reading: _Reading, *, checkpoints: list[Checkpoint], key: Ed25519PublicKey) -> Report:
    links = (_link(document["link"]) for document in reading.of("link"))
    try:
        return verify_trail(links, checkpoints=checkpoints, anchor=None, key=key)
    except (TypeError, ValueError):  # a stranger's values, of kinds that no trail holds
        problems = ("the bundle holds something that is neither an event nor a checkpoint",)
        name = key_fingerprint(key)
        return Report(events=0, checkpoints=len(checkpoints), uncovered=0, anchored=None, key=name, problems=problems)


def _foreign_key(report: Report, *, key: str) -> Iterator[str]:
    if report.key != key:
        yield f"the bundle is signed with `{report.key}`, not with `{visible(key)}`"


def _uncovered(report: Report) -> Iterator[str]:
    """Every event of a bundle was there when it was sealed, so a checkpoint covers it."""
    if report.uncovered:
        yield f"{report.uncovered} events stand after the last checkpoint of the bundle"


@dataclass
class _Reading:
    """A bundle read once, from its first line to its seal, hashed on the way."""

    file: BinaryIO

    def __post_init__(self) -> None:
        self._running = hashlib.sha256()
        self._ahead: tuple[bytes, dict[str, Any]] | None = None

    def document(self) -> dict[str, Any]:
        """The next line, taken into the hash."""
        line, document = self._peeked()
        self._running.update(line)
        self._ahead = None
        return document

    def of(self, kind: str) -> Iterator[dict[str, Any]]:
        """The lines of one kind that come next."""
        while self._peeked()[1].keys() == {kind}:
            yield self.document()

    def seal_problems(self, key: Ed25519PublicKey) -> Iterator[str]:
        _, document = self._peeked()
        try:
            if document.keys() != {"seal"} or self.file.read(1):
                raise ValueError
            key.verify(bytes.fromhex(document["seal"]), _sealed(self._running.hexdigest()))
        except (InvalidSignature, ValueError, TypeError):
            yield "the bundle is not sealed by its key: it was altered, cut or put together from others"

    def _peeked(self) -> tuple[bytes, dict[str, Any]]:
        if self._ahead is None:
            line = self.file.readline(_LONGEST_LINE)
            self._ahead = (line, _parsed(line))
        return self._ahead


def _parsed(line: bytes) -> dict[str, Any]:
    """One line as a document; the end of the file and anything that is no document are an empty one."""
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return document if is_object(document) else {}


def _public_key(header: dict[str, Any]) -> Ed25519PublicKey:
    try:
        if (header["format"], header["version"]) != (FORMAT, VERSION):
            raise ValueError
        return Ed25519PublicKey.from_public_bytes(bytes.fromhex(header["public_key"]))
    except (KeyError, ValueError, TypeError):
        raise Misuse("this is no bundle of an audit trail", remedy="`ringfence audit bundle` makes one") from None


def _checkpoint(said: Any) -> Checkpoint:
    match said:
        case {"number": int(number), "statement": str(statement), "signature": str(signature)}:
            return Checkpoint(number=number, statement=statement, signature=signature)
        case _:
            return Checkpoint(number=0, statement="", signature="")


def _link(said: Any) -> Link:
    """A link as written; one that is not of our form becomes one that no chain admits."""
    if is_object(said) and said.keys() == {"seq", *_TEXTS} and type(said["seq"]) is int:
        texts = {name: said[name] for name in _TEXTS}
        if all(type(text) is str or (text is None and name in _MAY_BE_NOTHING) for name, text in texts.items()):
            return Link(seq=said["seq"], **texts)
    nothing = dict.fromkeys(_TEXTS, "")
    return Link(seq=-1, **nothing)
