"""What was seen of a call has one meaning, and the kernel's word counts for more than the tool's."""

from __future__ import annotations

import json
import signal
from typing import Any

import pytest

from ringfence.inside import wire
from ringfence.inside.layout import Bounds
from ringfence.sandbox.exchange import Record, Said
from ringfence.sandbox.groups import Used
from ringfence.sandbox.reading import read

pytestmark = pytest.mark.req("SBX-3")

BOUNDS = Bounds(
    cpu_seconds=4,
    memory_bytes=1 << 20,
    processes=1,
    scratch_bytes=1,
    scratch_inodes=1,
    output_bytes=100,
    open_files=10,
)
ENDED = Record(status=0, cpu_seconds=0.1, peak_memory_bytes=1)
SAID = Said(
    frame=(wire.Kind.OUTPUT, b"1"),
    fault=None,
    printed=b"",
    ended="recorded",
    record=ENDED,
    measured=None,
    used=None,
    wall_seconds=0.1,
)


def code(**changes: Any) -> str | None:
    fault = read(SAID._replace(**changes), bounds=BOUNDS).fault
    return fault.code if fault else None


def killed(*, cpu: float = 0.1) -> Record:
    return Record(status=int(signal.SIGKILL), cpu_seconds=cpu, peak_memory_bytes=1)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, None),
        ({"ended": "with its reply", "record": None}, None),
        ({"ended": "unknown", "record": None}, "protocol_error"),
        ({"frame": None}, "protocol_error"),
        ({"frame": None, "ended": "with its reply", "record": None}, "protocol_error"),
        ({"record": killed()}, "protocol_error"),
        ({"record": killed(cpu=3.9)}, "cpu_limit"),
        ({"record": Record(status=152 << 8, cpu_seconds=4.0, peak_memory_bytes=1), "frame": None}, "cpu_limit"),
        ({"record": Record(status=152 << 8, cpu_seconds=2.0, peak_memory_bytes=1), "frame": None}, "cpu_limit"),
        ({"record": Record(status=152 << 8, cpu_seconds=0.1, peak_memory_bytes=1), "frame": None}, "protocol_error"),
        ({"record": Record(status=1 << 8, cpu_seconds=2.0, peak_memory_bytes=1), "frame": None}, "protocol_error"),
        ({"record": killed(), "used": Used(memory_kills=1)}, "memory_limit"),
        ({"fault": ("wall_limit", "late"), "record": killed(cpu=9)}, "wall_limit"),
        ({"record": Record(status=1 << 8, cpu_seconds=0.1, peak_memory_bytes=1)}, "protocol_error"),
        ({"frame": (wire.Kind.READY, b"")}, "protocol_error"),
        ({"frame": (wire.Kind.IMPORTED, b"{}")}, "protocol_error"),
        ({"frame": (wire.Kind.FAULT, b'{"code": "tool_error", "message": "m", "trace": ""}')}, "tool_error"),
        ({"frame": (wire.Kind.FAULT, b'{"code": "policy_denied", "message": "m", "trace": ""}')}, "protocol_error"),
        ({"frame": (wire.Kind.FAULT, b'{"code": ["x"], "message": "m", "trace": ""}')}, "protocol_error"),
        ({"frame": (wire.Kind.RESULT, b"[]")}, "protocol_error"),
        ({"frame": (wire.Kind.RESULT, b'{"output": "1"}')}, "protocol_error"),
    ],
)
def test_each_ending_has_its_code(changes: dict[str, Any], expected: str | None) -> None:
    assert code(**changes) == expected


def test_a_result_gives_its_output_as_text_and_its_wording() -> None:
    frame = (wire.Kind.RESULT, json.dumps({"output": "[1]", "for_model": "one"}).encode())
    reading = read(SAID._replace(frame=frame), bounds=BOUNDS)
    assert (reading.reply, reading.for_model) == (b"[1]", "one")
