"""Calls that follow each other with nothing in between: in order, all of them, and back to where they began."""

from __future__ import annotations

import os
import struct
from typing import Literal

import pytest

from ringfence.kernel.syscalls import NUMBERS
from ringfence.kernel.unattended import PAGE, Stage, Words
from tests.integration.kernel.mappings import mappings

pytestmark = pytest.mark.req("SBX-2")


def test_every_call_is_made_in_its_order() -> None:
    heard, said = os.pipe()
    text = b"abcdefghij"
    with Stage(most=len(text)) as stage:
        address = id(text) + bytes.__basicsize__ - 1
        stage.make([Words(NUMBERS["write"], (said, address + place, 1)) for place in range(len(text))])
    os.close(said)
    assert os.read(heard, 100) == text
    os.close(heard)


def test_a_failed_call_does_not_keep_the_others_from_being_made() -> None:
    heard, said = os.pipe()
    with Stage(most=2) as stage:
        stage.make([Words(NUMBERS["write"], (said, 0, 1)), Words(NUMBERS["close"], (said,))])
    assert os.read(heard, 1) == b""
    os.close(heard)


@pytest.mark.parametrize("argument", [0, 1])
def test_a_call_can_be_given_its_argument_by_one_before_it(argument: Literal[0, 1]) -> None:
    heard, said = os.pipe()
    text = b"abcdefghij"
    address = id(text) + bytes.__basicsize__ - 1
    given = [said, address]
    os.write(said, struct.pack("Q", given[argument]))
    given[argument] = 0
    with Stage(most=2) as stage:
        hear = (heard, stage.argument_at(1, argument), 8)
        stage.make([Words(NUMBERS["read"], hear), Words(NUMBERS["write"], (*given, len(text)))])
    assert os.read(heard, 100) == text
    for descriptor in (heard, said):
        os.close(descriptor)


def test_more_calls_than_there_is_memory_for_are_refused() -> None:
    with Stage(most=1) as stage, pytest.raises(ValueError, match="2 calls, and memory for 1"):
        stage.make([Words(NUMBERS["getpid"], ())] * 2)


def test_its_memory_is_a_mapping_of_its_own_and_is_given_back() -> None:
    with Stage(most=3) as stage:
        (inside,) = [each for each in mappings() if stage.holds(each.start) and each.rights == "rw-p"]
        assert inside.length == 4 * PAGE
    assert not [each for each in mappings() if stage.holds(each.start)]
