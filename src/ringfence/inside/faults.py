"""What went wrong in a jail, as a frame's body: a code, a line, and a capped trace.

Takes: an exception.  Gives: JSON bytes.  Never: lets a hostile exception make them large, or fail to be made.
"""

from __future__ import annotations

import errno
import json
import traceback

from pydantic import ValidationError

from ringfence.errors import CODES, RingfenceError

MOST_MESSAGE = 1_000
MOST_TRACE = 8_192
_MOST_FRAMES = 20
_NO_THREAD = "can't start new thread"

DISK_ERRNOS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def describe_fault(failure: BaseException) -> bytes:
    """The body of a FAULT frame."""
    return fault_body(code_of(failure), _line(failure), trace=_trace(failure))


def fault_body(code: str, message: str, *, trace: str = "") -> bytes:
    return json.dumps({"code": code, "message": message[:MOST_MESSAGE], "trace": trace[:MOST_TRACE]}).encode()


def code_of(failure: BaseException) -> str:
    """Which limit or which part an exception stands for."""
    if isinstance(failure, MemoryError):
        return "memory_limit"
    if isinstance(failure, OSError) and failure.errno in DISK_ERRNOS:
        return "disk_limit"
    # CPython's only word for a thread that the process limit forbids.
    if type(failure) is RuntimeError and failure.args == (_NO_THREAD,):
        return "pids_limit"
    return failure.code if isinstance(failure, RingfenceError) else "tool_error"


def invalid_input(failure: ValidationError) -> bytes:
    """What the author's own validators said, without the values."""
    first = failure.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(map(str, first["loc"]))
    message = f"the arguments do not fit: `{where}`: {first['msg']}" if where else first["msg"]
    return fault_body("input_invalid", message)


def _line(failure: BaseException) -> str:
    if isinstance(failure, RingfenceError):
        return _told(failure)
    name = type(failure).__name__[:MOST_MESSAGE]
    try:
        text = str(failure)[:MOST_MESSAGE]
    except Exception:  # a hostile `__str__` must not cost the reply
        text = "its text cannot be read"
    return f"{name}: {text}"


def _told(failure: RingfenceError) -> str:
    """An error of Ringfence's own says what happened; where it knows better than its code what to do, that too."""
    said = failure.message[:MOST_MESSAGE]
    return said if failure.remedy == CODES[failure.code].remedy else f"{said}; {failure.remedy}"


def _trace(failure: BaseException) -> str:
    try:
        frames = traceback.extract_tb(failure.__traceback__, limit=-_MOST_FRAMES)
        return "".join(line[:MOST_MESSAGE] for line in frames.format())
    except Exception as unreadable:
        return f"no trace: {type(unreadable).__name__}"
