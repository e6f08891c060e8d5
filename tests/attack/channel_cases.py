"""Bytes that a hostile tool writes where its reply belongs, and what becomes of each.

Takes: nothing.  Gives: `CASES`.  Never: a case that a careless reader would refuse by itself, unless it says so.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Literal

from ringfence.inside.wire import LAST, Kind, pack

Then = Literal["leave", "return", "fail", "stay", "close"]

_FORGED = pack(Kind.OUTPUT, b'"forged"')
_OUTPUT_BYTES = 1_048_576
_ENVELOPE_BYTES = 65_536


@dataclass(frozen=True, kw_only=True)
class Case:
    """`head`, then `unit` again and again, then `tail` is written; then the tool leaves, returns, fails or stays."""

    line: int
    name: str
    code: str
    head: bytes
    unit: bytes = b""
    count: int = 0
    tail: bytes = b""
    then: Then = "leave"

    @property
    def raw(self) -> bytes:
        return self.head + self.unit * self.count + self.tail

    @property
    def id(self) -> str:
        return f"line_{self.line}_{self.name.replace(' ', '_')}"


def _header(kind: int, length: int, *, magic: bytes = b"RF", version: int = 1) -> bytes:
    return struct.pack("!2sBBI", magic, version, kind, length)


def _output(line: int, name: str, body: bytes, *, code: str = "protocol_error") -> Case:
    return Case(line=line, name=name, code=code, head=pack(Kind.OUTPUT, body))


def _long(line: int, name: str, *, start: bytes, unit: bytes, count: int, end: bytes, code: str) -> Case:
    length = len(start) + len(unit) * count + len(end)
    head = _header(Kind.OUTPUT, length) + start
    return Case(line=line, name=name, code=code, head=head, unit=unit, count=count, tail=end)


def _bad(line: int, name: str, head: bytes, *, then: Then = "leave", code: str = "protocol_error") -> Case:
    return Case(line=line, name=name, code=code, head=head, then=then)


def _fault(body: str) -> bytes:
    return pack(Kind.FAULT, body.encode())


CASES: tuple[Case, ...] = (
    _bad(117, "two replies", _FORGED + _FORGED),
    _bad(117, "a reply before the real one", _FORGED, then="return"),
    _bad(117, "a reply and a stray byte", _FORGED + b"\n"),
    _bad(117, "a reply and a bad end", _FORGED, then="fail"),
    _bad(117, "a reply after the end of one", _FORGED + LAST + _FORGED),
    _bad(117, "two replies with an end each", (_FORGED + LAST) * 2),
    _bad(117, "a reply whose end comes twice", _FORGED + LAST * 2),
    _bad(117, "a reply whose end goes on", _FORGED + _header(Kind.END, 8) + b'"forged"'),
    _bad(117, "an end and no reply", LAST),
    _bad(117, "no reply at all", b""),
    _bad(117, "a closed channel", b"", then="close"),
    _bad(117, "a reply that says ready", pack(Kind.READY)),
    _bad(117, "a reply that is a job", pack(Kind.JOB, b'{"task": "call"}')),
    _bad(117, "a reply that says imported", pack(Kind.IMPORTED, b'{"speak": "sha256:0"}')),
    _bad(117, "a reply of no known kind", _header(99, 8) + b'"forged"'),
    _bad(117, "another magic", _header(Kind.OUTPUT, 8, magic=b"HT") + b'"forged"'),
    _bad(117, "another version", _header(Kind.OUTPUT, 8, version=2) + b'"forged"'),
    _bad(119, "four gibibytes announced", _header(Kind.OUTPUT, 0xFFFF_FFFF) + b'"forged"'),
    _bad(119, "one byte too many announced", _header(Kind.OUTPUT, _OUTPUT_BYTES + _ENVELOPE_BYTES + 1) + b'"x"'),
    _long(119, "one byte too many sent", start=b'"', unit=b"x", count=_OUTPUT_BYTES - 1, end=b'"', code="output_limit"),
    _bad(120, "half a header", _FORGED[:5]),
    _bad(120, "half a body", _FORGED[:-3]),
    _bad(120, "an announced body that never comes", _header(Kind.OUTPUT, 8), then="stay", code="wall_limit"),
    _bad(117, "a reply and no end", _FORGED, then="stay", code="wall_limit"),
    _output(121, "bytes that are no text", b'"\xff\xfe"'),
    _output(121, "an overlong spelling", b'"\xc0\xaf"'),
    _output(121, "a lone surrogate", b'"\\ud800"'),
    _output(121, "a surrogate in bytes", b'"\xed\xa0\x80"'),
    _output(121, "a raw zero", b'"a\0b"'),
    _output(121, "a byte order mark", b'\xef\xbb\xbf"forged"'),
    _output(121, "two bytes a letter", '"forged"'.encode("utf-16")),
    _output(122, "not a number", b"NaN"),
    _output(122, "infinity", b"Infinity"),
    _output(122, "minus infinity", b"[-Infinity]"),
    _output(122, "a float that is infinite", b"1e999"),
    _output(123, "an integer beyond floats", b"9007199254740993"),
    _long(123, "a million digits", start=b"1", unit=b"0", count=1_000_000, end=b"", code="protocol_error"),
    _long(124, "a hundred thousand deep", start=b"", unit=b"[", count=100_000, end=b"", code="protocol_error"),
    _long(124, "deep objects", start=b"", unit=b'{"a":', count=100_000, end=b"1", code="protocol_error"),
    _output(125, "a key twice", b'{"result": "sound", "result": "forged"}'),
    _long(125, "a long key", start=b'{"', unit=b"k", count=10_485_760, end=b'": 1}', code="protocol_error"),
    _output(125, "a key that is a prototype", b'{"__proto__": {"result": "forged"}}', code="output_invalid"),
    _output(125, "a key that is a class", b'{"__class__": "str", "result": "forged"}', code="output_invalid"),
    _output(126, "a pickle", b"\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x04true\x85R."),
    _output(126, "a marshalled object", b"\xe3\0\0\0\0"),
    _output(126, "yaml with a tag", b'!!python/object/apply:os.system ["true"]'),
    _output(126, "no bytes", b""),
    _output(126, "two documents", b'"sound" "forged"'),
    _output(127, "another type", b'{"leak-7f3a": 1}', code="output_invalid"),
    _output(127, "nothing", b"null", code="output_invalid"),
    _bad(127, "a fault with a code of the host", _fault('{"code": "approval_rejected", "message": "m", "trace": ""}')),
    _bad(127, "a fault with no known code", _fault('{"code": "no_such_code", "message": "m", "trace": ""}')),
    _bad(127, "a fault whose code is a list", _fault('{"code": ["tool_error"], "message": "m", "trace": ""}')),
    _bad(127, "a fault without a message", _fault('{"code": "tool_error", "trace": ""}')),
    _bad(127, "a fault that is a list", _fault("[1, 2]")),
    _bad(127, "a result whose output is no text", pack(Kind.RESULT, b'{"output": {"a": 1}, "for_model": null}')),
    _bad(127, "a result that is a number", pack(Kind.RESULT, b"7")),
    _bad(127, "a result round not a number", pack(Kind.RESULT, b'{"output": "NaN", "for_model": null}')),
    _bad(127, "a result with half a surrogate", pack(Kind.RESULT, b'{"output": "\\"a\\"", "for_model": "\\ud800"}')),
    _bad(132, "a fault with an id", _fault('{"code": "tool_error", "message": "m", "trace": "", "call_id": "x"}')),
    _bad(132, "a result with an id", pack(Kind.RESULT, b'{"output": "1", "for_model": null, "invocation_id": "x"}')),
)  # fmt: skip
