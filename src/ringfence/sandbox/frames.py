"""What the host writes to a spare: what to do, and with which arguments.

Takes: a task and its words.  Gives: the bytes of two frames.  Never: parses the arguments again; they are canonical.
"""

from __future__ import annotations

from typing import Any

from ringfence.contract.spelling import speller
from ringfence.inside import wire

_spell = speller(letters="ascii", keys="as given", marks=(",", ":"))


def job_frames(task: str, *, arguments: bytes = b"{}", **words: Any) -> bytes:
    job = _spell({"task": task, **words}).encode()
    return wire.pack(wire.Kind.JOB, job) + wire.pack(wire.Kind.ARGUMENTS, arguments)
