"""Breaks one part of a jail at a time, from below, and tells whether a tool was still run.

Takes: an order as JSON on standard input.  Gives: {fault: what became of a call} as JSON.  Never: touches the jail's
code: a system call filter on the launcher makes the kernel fail, or claim a success that it did not bring about.
"""

from __future__ import annotations

import asyncio
import ctypes
import importlib
import json
import os
import struct
import sys
from functools import partial
from pathlib import Path
from typing import Any

_LOAD, _JUMP_EQUAL, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF_0000, 0x0005_0000
_FIRST_ARGUMENT_AT = 16
_PRCTL, _SECCOMP, _SET_NO_NEW_PRIVS = 157, 317, 38


def install(number: int, *, answer: int, first: tuple[int, int] | None) -> None:
    """From here on the call gives this errno, or 0 without doing anything; `first` limits it by the first argument."""
    matches = [] if first is None else [(_LOAD, 0, 0, _FIRST_ARGUMENT_AT), (first[0], 0, 1, first[1])]
    steps = [
        (_LOAD, 0, 0, 0),
        (_JUMP_EQUAL, 0, len(matches) + 1, number),
        *matches,
        (_RETURN, 0, 0, _ERRNO | answer),
        (_RETURN, 0, 0, _ALLOW),
    ]
    encoded = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(encoded))
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() != 0 and libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
    if libc.syscall(_SECCOMP, 1, 0, program) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")


async def call(order: dict[str, Any], probe: str) -> dict[str, Any]:
    from ringfence.assembly import open_runtime
    from ringfence.errors import RingfenceError

    try:
        config = importlib.import_module("campaign").config(order)
        # A machine that lacks a part of the full posture might still have the confined one.
        config["sandbox"]["posture"] = "full"
        async with open_runtime(config, accept_as="olga") as runtime:
            session = runtime.session(agent="mallory", user="tester")
            outcome = (await session.call(probe, order["canaries"])).as_dict()
            return {"status": outcome["status"], "code": outcome.get("code"), "text": outcome.get("message")}
    except RingfenceError as refusal:
        return {"status": "refused", "code": refusal.code, "text": str(refusal)}


def run(order: dict[str, Any]) -> dict[str, Any]:
    """One child for each fault: a filter is for good."""
    sys.path.insert(0, str(Path(__file__).parent))
    importlib.import_module("ringfence.assembly")
    children = importlib.import_module("controls")
    told: dict[str, Any] = {}
    for name, fault in order["faults"].items():
        state = str(Path(order["state"], name.replace(" ", "-")))
        told[name] = children.in_a_child(partial(_faulty, {**order, "state": state}, fault))
    return {"rows": told}


def _faulty(order: dict[str, Any], fault: dict[str, Any] | None) -> Any:
    os.mkdir(order["state"], 0o700)
    if fault is not None:
        first = None if fault["first"] is None else (_JUMP_ANY_BIT if fault["bits"] else _JUMP_EQUAL, fault["first"])
        install(fault["number"], answer=fault["answer"], first=first)
    return asyncio.run(call({**order, "modules": ["probes.leftovers"]}, "line_026_special_files"))


def main() -> None:
    json.dump(run(json.load(sys.stdin)), sys.stdout)


if __name__ == "__main__":
    main()
