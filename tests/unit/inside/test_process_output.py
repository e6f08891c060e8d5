"""A program is heard to its end, whatever it says, and no further than its time."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ringfence.errors import CallFailed
from ringfence.inside.layout import Program
from ringfence.inside.process_client import AwaitedProcesses, Finished, Processes

pytestmark = pytest.mark.req("SBX-5", "CON-12")

PROGRAM = Program(name="python", place=sys.executable, path=sys.executable, loader=None, identity="", changed="")
LISTED = Processes([PROGRAM])
ECHO = "import sys; data = sys.stdin.buffer.read(); sys.stdout.buffer.write(data); sys.stderr.write(str(len(data)))"


def python(code: str, **options: object) -> Finished:
    return LISTED.run(["python", "-c", code], **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [0, 1, 65_536, 3_000_000])
def test_all_of_its_input_goes_in_and_all_of_its_output_comes_back(size: int) -> None:
    done = python(ECHO, input=b"x" * size, timeout=30)
    assert (done.code, len(done.stdout), done.stderr, done.dropped) == (0, size, str(size).encode(), 0)


def test_no_more_is_kept_than_was_asked_for_and_the_rest_is_counted() -> None:
    done = python("import sys; print('a' * 99_999); sys.stderr.write('b' * 50)", keep=10)
    assert done == Finished(code=0, stdout=b"a" * 10, stderr=b"b" * 10, dropped=100_000 - 10 + 40)


def test_a_program_that_does_not_read_its_input_is_no_error() -> None:
    assert python("raise SystemExit(3)", input=b"x" * 3_000_000).code == 3


def test_a_program_that_does_not_end_in_time_is_ended() -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        python("import time; print('x', flush=True); time.sleep(600)", timeout=0.5)
    with pytest.raises(subprocess.TimeoutExpired):
        python("import os, time; os.close(0); os.close(1); os.close(2); time.sleep(600)", timeout=0.5)


async def test_awaited_it_is_the_same() -> None:
    done = await AwaitedProcesses([PROGRAM]).run(["python", "-c", "print(1)"], keep=1)
    assert (done.stdout, done.dropped) == (b"1", 1)


@pytest.mark.parametrize("argv", [[], "python", ["python; true"], ["sh"], [""]])
def test_what_is_not_listed_or_no_list_is_never_started(argv: list[str]) -> None:
    with pytest.raises(CallFailed) as caught:
        LISTED.run(argv)
    assert caught.value.code in ("binary_not_allowed", "tool_error")
