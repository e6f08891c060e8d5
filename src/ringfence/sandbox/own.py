"""The program that a tool without Python is: a file of its kept source, and what the kernel needs to start it.

Takes: a kept source whose name says which file is started.  Gives: the entry of a layout, and its interpreter.
Never: takes the file from anywhere but the kept source.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

from ringfence.contract.capabilities import Kind
from ringfence.errors import CallRefused
from ringfence.inside.layout import SOURCE_FOLDER, Entry, Program
from ringfence.sandbox.elf import HEAD_BYTES, read_head
from ringfence.sandbox.programs import own_programs
from ringfence.sandbox.snapshot import ENTRY, Snapshot


@dataclass(frozen=True, kw_only=True)
class Own:
    """A tool's own program; `kinds` are the needs that running it amounts to."""

    entry: Entry | None = None
    programs: tuple[Program, ...] = ()
    kinds: frozenset[Kind] = frozenset()


NOT_A_PROGRAM = Own()


def own_program(snapshot: Snapshot, *, children: Literal["allowed", "refused"]) -> Own:
    """How the tool of this source is started."""
    name = snapshot.module.removeprefix(ENTRY)
    with open(snapshot.folder / name, "rb") as file:
        head = read_head(file.read(HEAD_BYTES))
    if name == snapshot.module or not head.program:
        message = f"entrypoint `{name}` is neither a program of this machine nor a script with a first line of `#!`"
        raise CallRefused(message, code="not_available")
    loader = None if head.loader is None else os.path.realpath(head.loader)
    return Own(
        entry=Entry(path=f"{SOURCE_FOLDER}/{name}", loader=loader, children=children),
        programs=own_programs(head),
        kinds=frozenset({"processes"}),
    )
