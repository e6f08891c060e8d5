"""The filter that a spare enters on top of its zygote's forbids, together with it, all that its table does."""

from __future__ import annotations

import struct
from typing import Literal

import pytest

from ringfence.inside.filters import ADDED, filters
from ringfence.kernel.allowlist import stage_b
from ringfence.kernel.seccomp import REFUSE, Instruction, Program, compile_table
from ringfence.kernel.syscalls import NUMBERS, TABLE_END
from tests.unit.kernel.filter_machine import obeyed, run

pytestmark = pytest.mark.req("SBX-3")

NEEDS = [(), *((need,) for need in ADDED), ("network", "files", "processes")]
WORDS = (0, 1, 2, 15, 0x11, 0x20, 0x22, 0x21, 0x122, 0x3D_0F00, 0x120_0011, 0xFFFF_FFFF_FFFF_FFFF)


def decoded(program: bytes) -> Program:
    return tuple(Instruction(*step) for step in struct.iter_unpack("HBBI", program))


@pytest.mark.parametrize("binds", ["none", "again"])
@pytest.mark.parametrize("clients", NEEDS)
def test_a_spare_may_do_no_more_than_its_table_says(clients: tuple[str, ...], binds: Literal["none", "again"]) -> None:
    made = filters(binds, clients)
    first, second = decoded(made.stage_a), decoded(made.stage_b)
    whole = compile_table(stage_b(row for client in clients for row in ADDED[client]))
    for number in (*range(TABLE_END), TABLE_END, 0x4000_0000):
        for word in WORDS:
            arguments = (number, *[word] * 6)
            together = obeyed(run(second, *arguments), run(first, *arguments))
            assert together == obeyed(run(whole, *arguments), run(first, *arguments))


def test_what_both_stages_say_is_said_once() -> None:
    made = filters("none")
    assert len(made.stage_b) < len(made.stage_a) / 4


@pytest.mark.parametrize("name", ["mount", "seccomp", "capset", "landlock_restrict_self"])
def test_what_only_a_zygote_may_do_a_spare_is_refused(name: str) -> None:
    assert run(decoded(filters("none").stage_b), NUMBERS[name], 1, 1, 0, 0) == REFUSE
