"""Tools that write to the channel what only the code beside them may write."""

from __future__ import annotations

import os
import socket
import struct
import threading
import time

from ringfence import tool

_CHANNEL = 3
_OUTPUT, _RESULT, _FAULT, _READY = 4, 5, 6, 1


def _frame(kind: int, body: bytes, *, length: int | None = None, magic: bytes = b"RF", version: int = 1) -> bytes:
    return struct.pack("!2sBBI", magic, version, kind, len(body) if length is None else length) + body


_FORGED = {
    "early": _frame(_OUTPUT, b"1"),
    "garbage": b"\0" * 64,
    "text": b'{"output": 1}\n',
    "wrong version": _frame(_OUTPUT, b"1", version=9),
    "wrong magic": _frame(_OUTPUT, b"1", magic=b"XX"),
    "unknown kind": _frame(99, b"1"),
    "huge length": _frame(_OUTPUT, b"", length=0xFFFF_FFFF),
    "another ready": _frame(_READY, b""),
    "a job": _frame(2, b"{}"),
}
_ALONE = {
    "half": _frame(_OUTPUT, b"1", length=100),
    "half a header": b"RF",
    "bad result": _frame(_RESULT, b'{"output": 1, "for_model": null}'),
    "result with more": _frame(_RESULT, b'{"output": "1", "for_model": null, "code": "x"}'),
    "bad utf-8": _frame(_RESULT, b'{"output": "\xff", "for_model": null}'),
    "surrogate": _frame(_RESULT, b'{"output": "\\ud800", "for_model": null}'),
    "unknown code": _frame(_FAULT, b'{"code": "approval_rejected", "message": "x", "trace": ""}'),
    "fault as list": _frame(_FAULT, b"[]"),
    "deep fault": _frame(_FAULT, b"[" * 50_000),
    "nan fault": _frame(_FAULT, b'{"code": NaN, "message": "x", "trace": ""}'),
    "twice a key": _frame(_FAULT, b'{"code": "tool_error", "code": "tool_error", "message": "x", "trace": ""}'),
    "ready as reply": _frame(_READY, b""),
    "two replies": _frame(_OUTPUT, b"1") * 2,
    "reply and more": _frame(_OUTPUT, b"1") + b"x",
}


@tool(safety="read")
def forge_then_return(what: str) -> int:
    """Write something to the channel, then return as if nothing had happened."""
    os.write(_CHANNEL, _FORGED[what])
    return 2


@tool(safety="read")
def forge_and_end(what: str) -> int:
    """Write something to the channel and end at once, cleanly."""
    os.write(_CHANNEL, _ALONE[what])
    os._exit(0)


@tool(safety="read")
def forge_and_fail(status: int) -> int:
    """Write a well-formed reply, then end with another status."""
    os.write(_CHANNEL, _frame(_OUTPUT, b"1"))
    os._exit(status)


@tool(safety="read")
def forge_and_stay() -> int:
    """Write a well-formed reply, close the channel, and go on."""
    os.write(_CHANNEL, _frame(_OUTPUT, b"1"))
    socket.socket(fileno=_CHANNEL).close()
    time.sleep(60)
    return 1


@tool(safety="read")
def forge_from_a_thread() -> int:
    """Return, while a thread keeps writing to the channel."""

    def write() -> None:
        while True:
            os.write(_CHANNEL, b"x" * 1000)

    threading.Thread(target=write, daemon=True).start()
    time.sleep(0.05)
    return 1


@tool(safety="read")
def vanish(status: int) -> int:
    """End without a word."""
    os._exit(status)


@tool(safety="read")
def crash() -> int:
    """End by a fault of memory."""
    import ctypes

    return ctypes.string_at(0)[0]


@tool(safety="read")
def deaf() -> int:
    """Close the channel and return."""
    os.close(_CHANNEL)
    return 1


@tool(safety="read")
def printed_frame() -> int:
    """Print a reply."""
    os.write(1, _frame(_OUTPUT, b"666"))
    return 1
