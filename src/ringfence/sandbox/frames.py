"""What the host writes to a spare: what to do, and with which arguments.

Takes: a task and its words.  Gives: the bytes of two frames.  Never: parses the arguments again; they are canonical.
"""

from __future__ import annotations

import json
from typing import Any

from ringfence.inside import wire


def job_frames(task: str, *, arguments: bytes = b"{}", **words: Any) -> bytes:
    job = json.dumps({"task": task, **words}).encode()
    return wire.pack(wire.Kind.JOB, job) + wire.pack(wire.Kind.ARGUMENTS, arguments)
