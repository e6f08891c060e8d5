"""A table of system calls becomes a filter that the kernel runs on every call, in a handful of steps.

Takes: a mapping from call number to what happens.  Gives: a program, and its installation.  Never: allows a number
that is not in the table.

The filter checks the architecture first, then searches the number by halves over ranges of equal outcome. A number
inside the known table that has no entry is EPERM; one above it is ENOSYS, so that libraries fall back; x32 is killed.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from ringfence.kernel.syscalls import TABLE_END, call


@dataclass(frozen=True)
class Action:
    """What the kernel does with a call, as the number a filter returns."""

    value: int


ALLOW = Action(0x7FFF_0000)
KILL_PROCESS = Action(0x8000_0000)


def fail_with(number: int) -> Action:
    """The call is not made and returns this errno."""
    return Action(0x0005_0000 | number)


REFUSE = fail_with(errno.EPERM)
UNKNOWN = fail_with(errno.ENOSYS)


@dataclass(frozen=True, kw_only=True)
class Masked:
    """Argument number `argument`, with only the bits of `mask`, is `value`."""

    argument: int
    mask: int
    value: int

    def __post_init__(self) -> None:
        if self.value & ~self.mask or not self.mask:
            raise ValueError(f"the value `{self.value:#x}` cannot be seen through the mask `{self.mask:#x}`")


@dataclass(frozen=True, kw_only=True)
class OneOf:
    """Argument number `argument` is one of `values`; `bits` is the width the kernel itself reads."""

    argument: int
    values: tuple[int, ...]
    bits: Literal[32, 64] = 64

    def __post_init__(self) -> None:
        if any(not 0 <= value < 1 << self.bits for value in self.values):
            raise ValueError(f"a value of `{self.values}` does not fit in {self.bits} bits")


Test = Masked | OneOf


@dataclass(frozen=True, kw_only=True)
class ArgumentCheck:
    """If all tests of any alternative hold, `then`; else `otherwise`."""

    alternatives: tuple[tuple[Test, ...], ...]
    then: Action = ALLOW
    otherwise: Action = REFUSE


Outcome = Action | ArgumentCheck


class Instruction(NamedTuple):
    """One step of the kernel's filter machine; jumps count from the next step."""

    code: int
    if_true: int
    if_false: int
    operand: int


Program = tuple[Instruction, ...]

_LOAD, _RETURN, _JUMP = 0x20, 0x06, 0x05
_JUMP_EQUAL, _JUMP_AT_LEAST, _AND = 0x15, 0x35, 0x54
_LONGEST_JUMP = 255
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_X86_64 = 0xC000_003E
_X32_STARTS = 0x4000_0000
_LOW_HALF = 0xFFFF_FFFF
_BOTH_HALVES = 0xFFFF_FFFF_FFFF_FFFF
_MOST_INSTRUCTIONS = 4096

_SET_MODE_FILTER = 1
_ALL_THREADS = 1


def compile_table(table: Mapping[int, Outcome]) -> Program:
    """The filter for a table; Preconditions: every number lies inside the known table."""
    outside = [number for number in table if not 0 <= number < TABLE_END]
    if outside:
        raise ValueError(f"no system call has the numbers `{outside}`")
    program = (
        Instruction(_LOAD, 0, 0, _ARCHITECTURE_AT),
        Instruction(_JUMP_EQUAL, 1, 0, _X86_64),
        _give(KILL_PROCESS),
        Instruction(_LOAD, 0, 0, _NUMBER_AT),
        *_search(_ranges(table)),
    )
    if len(program) > _MOST_INSTRUCTIONS:
        raise ValueError(f"the filter has `{len(program)}` steps, more than the kernel takes")
    return program


def on_top_of(under: Mapping[int, Outcome], table: Mapping[int, Outcome]) -> dict[int, Outcome]:
    """What is left for a table to decide where the filter of another one is in place and stays so.

    The kernel asks both and obeys the stricter, so a number on which they agree needs no second answer; and a filter is
    taken in, checked and translated by every process that enters it.
    """
    decided = {number: (table.get(number, REFUSE), under.get(number, REFUSE)) for number in range(TABLE_END)}
    return {number: ALLOW if own == other else own for number, (own, other) in decided.items()}


def encode(program: Program) -> bytes:
    """The program as the kernel reads it."""
    return b"".join(struct.pack("HBBI", *instruction) for instruction in program)


def install(encoded: bytes) -> None:
    """Put every thread of this process under the filter for good; Preconditions: no_new_privs is set."""
    header, _ = prepare(encoded)
    refused_thread = call("seccomp", _SET_MODE_FILTER, _ALL_THREADS, header)
    if refused_thread:
        raise OSError(errno.EBUSY, f"seccomp: thread {refused_thread} could not be put under the filter")


@functools.cache
def prepare(encoded: bytes) -> tuple[bytes, object]:
    """What the kernel is shown, and the memory it points to; made once, before the processes that install it."""
    steps = ctypes.create_string_buffer(encoded, len(encoded))
    return struct.pack("HxxxxxxQ", len(encoded) // struct.calcsize("HBBI"), ctypes.addressof(steps)), steps


def _ranges(table: Mapping[int, Outcome]) -> list[tuple[int, Outcome]]:
    """The first number of each run of equal outcome, in order, from 0 to the end of all numbers."""
    every = [(number, table.get(number, REFUSE)) for number in range(TABLE_END)]
    every += [(TABLE_END, UNKNOWN), (_X32_STARTS, KILL_PROCESS)]
    starts = [later for earlier, later in pairwise(every) if later[1] is not earlier[1] and later[1] != earlier[1]]
    return [every[0], *starts]


def _search(ranges: Sequence[tuple[int, Outcome]]) -> Program:
    if len(ranges) == 1:
        return _leaf(ranges[0][1])
    middle = len(ranges) // 2
    below, above = _search(ranges[:middle]), _search(ranges[middle:])
    pivot = ranges[middle][0]
    if len(below) <= _LONGEST_JUMP:
        return (Instruction(_JUMP_AT_LEAST, len(below), 0, pivot), *below, *above)
    return (Instruction(_JUMP_AT_LEAST, 0, 1, pivot), Instruction(_JUMP, 0, 0, len(below)), *below, *above)


def _leaf(outcome: Outcome) -> Program:
    if isinstance(outcome, Action):
        return (_give(outcome),)
    steps = tuple(step for tests in outcome.alternatives for step in _alternative(tests, then=outcome.then))
    return (*steps, _give(outcome.otherwise))


def _alternative(tests: Sequence[Test], *, then: Action) -> Iterator[Instruction]:
    """Steps that return `then` if every test holds, and fall off the end if one does not."""
    steps: Program = (_give(then),)
    for test in reversed(tests):
        steps = (*_test(test, if_not=len(steps)), *steps)
    return iter(steps)


def _test(test: Test, *, if_not: int) -> Program:
    """Steps that fall through if the test holds, and jump over `if_not` further steps if it does not."""
    if isinstance(test, Masked):
        return _equal(test.argument, mask=test.mask, value=test.value, if_not=if_not)
    if test.bits == 32:
        return _one_of_words(test, if_not=if_not)
    steps: Program = (Instruction(_JUMP, 0, 0, if_not),)
    for value in reversed(test.values):
        found = Instruction(_JUMP, 0, 0, len(steps))
        steps = (*_equal(test.argument, mask=_BOTH_HALVES, value=value, if_not=1), found, *steps)
    return steps


def _one_of_words(test: OneOf, *, if_not: int) -> Program:
    """One load, then one compare for each value: a match jumps past the rest."""
    compares = [Instruction(_JUMP_EQUAL, left + 1, 0, value) for left, value in enumerate(reversed(test.values))]
    load = Instruction(_LOAD, 0, 0, _ARGUMENTS_AT + 8 * test.argument)
    return (load, *reversed(compares), Instruction(_JUMP, 0, 0, if_not))


def _equal(argument: int, *, mask: int, value: int, if_not: int) -> Program:
    """Compare the halves that the mask touches, low half first; the machine has 32-bit registers."""
    at = _ARGUMENTS_AT + 8 * argument
    halves = [(at, mask & _LOW_HALF, value & _LOW_HALF), (at + 4, mask >> 32, value >> 32)]
    steps: Program = ()
    for offset, half_mask, wanted in reversed(halves):
        if half_mask:
            masking = () if half_mask == _LOW_HALF else (Instruction(_AND, 0, 0, half_mask),)
            compare = Instruction(_JUMP_EQUAL, 0, len(steps) + if_not, wanted)
            steps = (Instruction(_LOAD, 0, 0, offset), *masking, compare, *steps)
    return steps


def _give(action: Action) -> Instruction:
    return Instruction(_RETURN, 0, 0, action.value)
