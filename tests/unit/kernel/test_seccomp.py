"""A table becomes a filter that answers what the table says."""

from __future__ import annotations

import errno

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ringfence.kernel.seccomp import (
    ALLOW,
    KILL_PROCESS,
    REFUSE,
    UNKNOWN,
    ArgumentCheck,
    Masked,
    OneOf,
    Outcome,
    Test,
    compile_table,
    encode,
    fail_with,
    on_top_of,
)
from ringfence.kernel.syscalls import TABLE_END
from tests.unit.kernel.filter_machine import I386, obeyed, run

pytestmark = pytest.mark.req("SBX-3")

HIGH = 1 << 32
EVEN = Masked(argument=0, mask=1, value=0)
EVERY_WORD = st.integers(min_value=0, max_value=(1 << 64) - 1)


def only(*tests: Test) -> dict[int, Outcome]:
    return {7: ArgumentCheck(alternatives=(tests,))}


@given(st.dictionaries(st.integers(0, TABLE_END - 1), st.sampled_from([ALLOW, REFUSE, fail_with(errno.ENOENT)])))
@settings(max_examples=20, deadline=None)
def test_every_number_gets_its_outcome(table: dict[int, Outcome]) -> None:
    program = compile_table(table)
    given_outcomes = {number: run(program, number) for number in range(TABLE_END)}
    assert given_outcomes == {number: table.get(number, REFUSE) for number in range(TABLE_END)}


OUTCOMES = st.sampled_from(
    [
        ALLOW,
        REFUSE,
        fail_with(errno.ENOENT),
        ArgumentCheck(alternatives=((OneOf(argument=0, values=(1, 2)),),)),
        ArgumentCheck(alternatives=((Masked(argument=0, mask=1, value=1),),), otherwise=fail_with(errno.ENOSYS)),
    ]
)
TABLES = st.dictionaries(st.integers(0, TABLE_END - 1), OUTCOMES)


@given(TABLES, TABLES, TABLES, st.sampled_from([0, 1, 2, 3]))
@settings(max_examples=20, deadline=None)
def test_two_filters_say_together_what_two_whole_ones_would(
    both: dict[int, Outcome], first: dict[int, Outcome], second: dict[int, Outcome], argument: int
) -> None:
    under, table = {**first, **both}, {**second, **both}
    older, whole, rest = (compile_table(each) for each in (under, table, on_top_of(under, table)))
    for number in (*range(TABLE_END), TABLE_END, 0x4000_0000):
        asked = [run(program, number, argument) for program in (older, whole, rest)]
        assert obeyed(asked[2], asked[0]) == obeyed(asked[1], asked[0])


def test_on_top_of_itself_a_table_has_nothing_left_to_say() -> None:
    table: dict[int, Outcome] = {3: ALLOW, 7: fail_with(errno.ENOENT), 9: next(iter(only(EVEN).values()))}
    assert set(on_top_of(table, table).values()) == {ALLOW}


def test_a_table_too_wide_for_short_jumps_still_answers_right() -> None:
    table: dict[int, Outcome] = dict.fromkeys(range(0, TABLE_END, 2), ALLOW)
    program = compile_table(table)
    assert len(encode(program)) > 8 * 2 * 255
    assert all(run(program, number) == table.get(number, REFUSE) for number in range(TABLE_END))


def test_an_empty_table_allows_nothing() -> None:
    assert {run(compile_table({}), number) for number in range(TABLE_END)} == {REFUSE}


@pytest.mark.parametrize("number", [TABLE_END, TABLE_END + 1, 0x3FFF_FFFF])
def test_a_number_above_the_table_does_not_exist(number: int) -> None:
    assert run(compile_table({0: ALLOW}), number) == UNKNOWN


@pytest.mark.parametrize("number", [0x4000_0000, 0x4000_0000 + 39, 0xFFFF_FFFF])
def test_an_x32_number_kills(number: int) -> None:
    assert run(compile_table({39: ALLOW}), number) == KILL_PROCESS


def test_another_architecture_kills_before_the_number_is_looked_at() -> None:
    everything: dict[int, Outcome] = dict.fromkeys(range(TABLE_END), ALLOW)
    assert run(compile_table(everything), 20, architecture=I386) == KILL_PROCESS


def test_a_number_outside_the_table_is_not_compiled() -> None:
    with pytest.raises(ValueError, match="no system call"):
        compile_table({TABLE_END: ALLOW})


@given(EVERY_WORD, EVERY_WORD.filter(bool), EVERY_WORD)
@settings(max_examples=200, deadline=None)
def test_a_masked_test_looks_at_both_halves(argument: int, mask: int, value: int) -> None:
    program = compile_table(only(Masked(argument=2, mask=mask, value=value & mask)))
    for tried in (argument, value, value & mask):
        assert run(program, 7, 0, 0, tried) == (ALLOW if tried & mask == value & mask else REFUSE)


@given(EVERY_WORD, st.lists(EVERY_WORD, max_size=5))
@settings(max_examples=200, deadline=None)
def test_one_of_looks_at_both_halves(argument: int, values: list[int]) -> None:
    program = compile_table(only(OneOf(argument=5, values=tuple(values))))
    for tried in (argument, *values, *(value ^ HIGH for value in values)):
        assert run(program, 7, 0, 0, 0, 0, 0, tried) == (ALLOW if tried in values else REFUSE)


def test_one_of_narrow_values_ignores_the_half_the_kernel_ignores() -> None:
    program = compile_table(only(OneOf(argument=0, values=(3, 5), bits=32)))
    assert [run(program, 7, tried) for tried in (3, 5, 4, HIGH | 5)] == [ALLOW, ALLOW, REFUSE, ALLOW]


def test_all_tests_of_an_alternative_must_hold() -> None:
    program = compile_table(only(OneOf(argument=0, values=(1, 2), bits=32), OneOf(argument=1, values=(8, 9))))
    assert [run(program, 7, *tried) for tried in ((1, 8), (2, 9), (1, 7), (3, 8))] == [ALLOW, ALLOW, REFUSE, REFUSE]


def test_one_alternative_is_enough() -> None:
    check = ArgumentCheck(
        alternatives=((OneOf(argument=0, values=(1,)),), (Masked(argument=1, mask=4, value=4),)),
        then=fail_with(errno.EACCES),
        otherwise=ALLOW,
    )
    program = compile_table({7: check})
    refused = fail_with(errno.EACCES)
    assert [run(program, 7, *tried) for tried in ((1, 0), (0, 4), (0, 12), (0, 3))] == [refused] * 3 + [ALLOW]


def test_no_alternative_is_otherwise() -> None:
    assert run(compile_table({7: ArgumentCheck(alternatives=())}), 7) == REFUSE
    assert run(compile_table(only(OneOf(argument=0, values=(), bits=32))), 7) == REFUSE


def test_a_value_that_the_mask_hides_is_refused() -> None:
    with pytest.raises(ValueError, match="mask"):
        Masked(argument=0, mask=0x0F, value=0x1F)
    with pytest.raises(ValueError, match="mask"):
        Masked(argument=0, mask=0, value=0)


def test_a_value_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bits"):
        OneOf(argument=0, values=(HIGH,), bits=32)


def test_a_step_is_eight_bytes() -> None:
    program = compile_table({0: ALLOW})
    assert len(encode(program)) == 8 * len(program)
