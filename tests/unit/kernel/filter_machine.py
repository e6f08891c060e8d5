"""A filter run step by step, as the kernel would run it."""

from __future__ import annotations

from ringfence.kernel.seccomp import Action, Program

X86_64 = 0xC000_003E
I386 = 0x4000_0003


def run(program: Program, number: int, *arguments: int, architecture: int = X86_64) -> Action:
    words = {0: number, 4: architecture}
    for place, argument in enumerate(arguments):
        words[16 + 8 * place] = argument & 0xFFFF_FFFF
        words[20 + 8 * place] = (argument >> 32) & 0xFFFF_FFFF
    register = at = 0
    while True:
        code, if_true, if_false, operand = program[at]
        at += 1
        match code:
            case 0x20:
                register = words.get(operand, 0)
            case 0x54:
                register &= operand
            case 0x05:
                at += operand
            case 0x15:
                at += if_true if register == operand else if_false
            case 0x35:
                at += if_true if register >= operand else if_false
            case 0x06:
                return Action(operand)
            case _:
                raise AssertionError(f"unknown step {code:#x}")


def obeyed(newer: Action, older: Action) -> Action:
    """What the kernel does where two filters are in place: the stricter, and of two that differ in detail the newer."""
    return min((newer, older), key=_severity)


def _severity(action: Action) -> int:
    """By the upper half alone, where killing is negative."""
    kind = action.value & 0xFFFF_0000
    return kind - (1 << 32) if kind & 0x8000_0000 else kind
