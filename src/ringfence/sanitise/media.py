"""What bytes are is told by their beginning, never by their name; what is no text is never read as text.

Takes: bytes, and what somebody says they are.  Gives: the type found, or why they may not pass.
Never: decodes an image; lets bytes pass as an image that begin like text, HTML or another type.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass

LARGEST = 8 << 20


@dataclass(frozen=True)
class Signature:
    """How files of a type begin: these bytes, at this offset, and why the type is known here."""

    type: str
    magic: bytes
    at: int
    reason: str


SIGNATURES: tuple[Signature, ...] = (
    Signature("image/png", b"\x89PNG\r\n\x1a\n", 0, "shown by every client"),
    Signature("image/jpeg", b"\xff\xd8\xff", 0, "shown by every client"),
    Signature("image/gif", b"GIF87a", 0, "shown by every client"),
    Signature("image/gif", b"GIF89a", 0, "shown by every client"),
    Signature("image/webp", b"WEBP", 8, "shown by every client"),
    Signature("image/avif", b"ftypavif", 4, "shown by most clients"),
    Signature("image/bmp", b"BM", 0, "known, so that it is not read as text"),
    Signature("image/tiff", b"II*\x00", 0, "known, so that it is not read as text"),
    Signature("image/tiff", b"MM\x00*", 0, "known, so that it is not read as text"),
    Signature("audio/wav", b"WAVE", 8, "played by most clients"),
    Signature("audio/mpeg", b"ID3", 0, "played by most clients"),
    Signature("audio/ogg", b"OggS", 0, "played by most clients"),
    Signature("audio/flac", b"fLaC", 0, "played by most clients"),
    Signature("application/pdf", b"%PDF-", 0, "known, so that it is not read as text"),
    Signature("application/zip", b"PK\x03\x04", 0, "archives and office documents"),
    Signature("application/gzip", b"\x1f\x8b\x08", 0, "known, so that it is not read as text"),
    Signature("application/x-elf", b"\x7fELF", 0, "programs"),
)  # fmt: skip

# What a client shows or plays by itself; anything else is not handed on as media.
SHOWN = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "audio/wav", "audio/mpeg", "audio/ogg", "audio/flac"})  # fmt: skip
_SAME = {"image/jpg": "image/jpeg", "audio/x-wav": "audio/wav", "audio/wave": "audio/wav", "audio/mp3": "audio/mpeg"}
_PRINTED = frozenset(range(0x20, 0x7F)) | {0x09, 0x0A, 0x0D}


def sniffed(content: bytes) -> str | None:
    """The type of these bytes, if they are of a known one and no text: a text may begin with the letters `BM`."""
    found = next((each for each in SIGNATURES if content.startswith(each.magic, each.at)), None)
    return found.type if found and not _is_printed(content[:64]) else None


def _is_printed(head: bytes) -> bool:
    return _PRINTED.issuperset(head)


def media_problem(encoded: str, *, declared: str, largest: int = LARGEST) -> str | None:
    """Why base64 may not pass as this type, or nothing if it may."""
    if len(encoded) > largest * 4 // 3 + 4:
        return f"is larger than {largest} bytes"
    try:
        content = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return "is not base64"
    kind, said = sniffed(content), declared.partition(";")[0].strip().lower()
    if kind not in SHOWN:
        return "is of no type that is shown"
    return None if _SAME.get(said, said) == kind else f"is `{kind}` and says otherwise"
