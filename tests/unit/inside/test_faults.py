"""Whatever a tool raises becomes a short, typed fault."""

from __future__ import annotations

import errno
import json

import pytest

from ringfence.errors import CallFailed
from ringfence.inside.faults import code_of, describe_fault

pytestmark = pytest.mark.req("SBX-3")


class Hostile(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text for you")


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (MemoryError(), "memory_limit"),
        (OSError(errno.ENOSPC, "full"), "disk_limit"),
        (OSError(errno.EDQUOT, "full"), "disk_limit"),
        (OSError(errno.EFBIG, "large"), "disk_limit"),
        (OSError(errno.EACCES, "no"), "tool_error"),
        (RuntimeError("can't start new thread"), "pids_limit"),
        (RuntimeError("something else"), "tool_error"),
        (CallFailed("no client", code="not_available"), "not_available"),
        (KeyboardInterrupt(), "tool_error"),
    ],
)
def test_each_failure_has_its_code(failure: BaseException, code: str) -> None:
    assert code_of(failure) == code


def test_a_fault_is_short_whatever_the_exception_says() -> None:
    assert len(describe_fault(ValueError("x" * 10_000_000))) < 20_000


def test_an_exception_that_cannot_be_printed_is_still_told() -> None:
    assert json.loads(describe_fault(Hostile()))["message"] == "Hostile: its text cannot be read"


@pytest.mark.req("OPS-7")
def test_an_error_of_its_own_is_told_with_the_remedy_that_it_brings() -> None:
    def message(failure: CallFailed) -> str:
        told: str = json.loads(describe_fault(failure))["message"]
        return told

    assert message(CallFailed("no file `a`", code="input_invalid", remedy="name one")) == "no file `a`; name one"
    assert message(CallFailed("no file `a`", code="input_invalid")) == "no file `a`"
