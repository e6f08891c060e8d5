"""The few bytes of DNS that a stub resolver needs: one question in, one short answer out.

Takes: a datagram from a jail.  Gives: the question, and the datagram that answers it.
Never: follows a compression pointer, answers what is not one plain question, or passes a byte on.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from ipaddress import IPv4Address

_HEADER = struct.Struct("!6H")
_QUESTION = struct.Struct("!HH")
_ANSWER = struct.Struct("!HHHIH4s")
_POINTER_TO_QUESTION = 0xC000 | _HEADER.size
A, INTERNET = 1, 1
_RESPONSE, _RECURSION_ASKED, _RECURSION_OFFERED = 0x8000, 0x0100, 0x0080
_OPCODE_AND_RESPONSE = 0xF800
NOERROR, NXDOMAIN, REFUSED = 0, 3, 5
_SECONDS = 5
_LONGEST_LABEL = 63
_LONGEST_NAME = 255


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question, with the bytes that an answer repeats."""

    id: int
    flags: int
    name: str
    kind: int
    raw: bytes


def read_question(datagram: bytes) -> Question | None:
    """The question in a datagram; None for anything that is not exactly one."""
    if len(datagram) < _HEADER.size:
        return None
    id_, flags, questions, answers, authorities, _ = _HEADER.unpack_from(datagram)
    if flags & _OPCODE_AND_RESPONSE or (questions, answers, authorities) != (1, 0, 0):
        return None
    labels, at = _labels(datagram)
    if not labels or len(datagram) < at + _QUESTION.size:
        return None
    kind, class_ = _QUESTION.unpack_from(datagram, at)
    if class_ != INTERNET:
        return None
    raw = datagram[_HEADER.size : at + _QUESTION.size]
    return Question(id=id_, flags=flags, name=".".join(labels), kind=kind, raw=raw)


def _labels(datagram: bytes) -> tuple[list[str], int]:
    labels: list[str] = []
    at = _HEADER.size
    while at < len(datagram) and at - _HEADER.size < _LONGEST_NAME:
        length = datagram[at]
        at += 1
        if length == 0:
            return labels, at
        label = datagram[at : at + length]
        if length > _LONGEST_LABEL or len(label) < length:
            return [], at
        # A dot inside a label would make two names of one; no host name has a byte outside ASCII on the wire.
        labels.append(label.decode("ascii", errors="backslashreplace").replace(".", "\\."))
        at += length
    return [], at


def write_answer(question: Question, *, address: str | None, code: int) -> bytes:
    """The datagram for a question: an IPv4 address if there is one to give, else just the code."""
    flags = _RESPONSE | _RECURSION_OFFERED | (question.flags & _RECURSION_ASKED) | code
    given = address is not None and question.kind == A
    header = _HEADER.pack(question.id, flags, 1, int(given), 0, 0)
    if address is None or not given:
        return header + question.raw
    packed = IPv4Address(address).packed
    return header + question.raw + _ANSWER.pack(_POINTER_TO_QUESTION, A, INTERNET, _SECONDS, len(packed), packed)
