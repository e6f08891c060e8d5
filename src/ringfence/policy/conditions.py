"""Conditions on arguments: each a small closure, compiled once, linear in the size of the value.

Takes: `when:` lines like `args.amount: {gt: 100}`.  Gives: functions from arguments to yes or no.
Never: passes over an absent argument; leaving one out must neither dodge a rule nor fit a grant.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal, TypeAlias

import re2

from ringfence.contract.patterns import glob
from ringfence.contract.shapes import is_list, is_object

Test: TypeAlias = Callable[[Any], bool]
Condition: TypeAlias = Callable[[Mapping[str, Any]], bool]
Absent: TypeAlias = Literal["holds", "fails"]

# Linear-time patterns only; the library has no types of its own.
_linear: Any = re2
_ABSENT = object()


class ConditionInvalid(ValueError):
    """A `when:` line that cannot be compiled."""


class ConditionFailed(TypeError):
    """A condition met a value that it cannot judge; the caller makes that a denial."""


def compile_conditions(when: Mapping[str, Any], *, absent: Absent = "holds") -> Condition:
    """One function that says whether every condition holds; `absent` is what a missing argument makes of its own."""
    return _every([_condition(path, operators, absent) for path, operators in when.items()])


def _every(tests: Sequence[Callable[[Any], bool]]) -> Callable[[Any], bool]:
    """One test for all of them; a lone one is itself, since most rules have just one."""
    return tests[0] if len(tests) == 1 else lambda value: all(test(value) for test in tests)


def _condition(path: str, operators: Any, absent: Absent) -> Condition:
    keys = _keys(path)
    if not is_object(operators) or not operators:
        raise ConditionInvalid(f"`{path}` needs at least one operator, like `{{gt: 100}}`")
    if "absent" in operators:
        return _absence(path, keys, operators)
    test = _every([_test(path, name, operand) for name, operand in operators.items()])
    missing = absent == "holds"
    if len(keys) == 1:
        return _of_argument(keys[0], test, missing)

    def holds(arguments: Mapping[str, Any]) -> bool:
        value = _lookup(arguments, keys)
        return missing if value is _ABSENT else test(value)

    return holds


def _of_argument(name: str, test: Test, missing: bool) -> Condition:
    def holds(arguments: Mapping[str, Any]) -> bool:
        value = arguments.get(name, _ABSENT)
        return missing if value is _ABSENT else test(value)

    return holds


def _keys(path: str) -> tuple[str, ...]:
    root, *keys = path.split(".")
    if root != "args" or not all(keys) or not keys:
        raise ConditionInvalid(f"`{path}` does not name an argument; write `args.<name>`")
    return tuple(keys)


def _absence(path: str, keys: tuple[str, ...], operators: Mapping[str, Any]) -> Condition:
    wanted = operators["absent"]
    if len(operators) != 1 or not isinstance(wanted, bool):
        raise ConditionInvalid(f"`absent` of `{path}` stands alone and is `true` or `false`")
    return lambda arguments: (_lookup(arguments, keys) is _ABSENT) is wanted


def _lookup(arguments: Any, keys: tuple[str, ...]) -> Any:
    value = arguments
    for key in keys:
        if is_list(value) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        elif is_object(value) and key in value:
            value = value[key]
        else:
            return _ABSENT
    return value


def _test(path: str, name: str, operand: Any) -> Test:
    try:
        make = _OPERATORS[name]
    except KeyError:
        known = ", ".join([*_OPERATORS, "absent"])
        raise ConditionInvalid(f"`{path}` has the operator `{name}`, which is none of {known}") from None
    try:
        return make(operand)
    except (TypeError, ValueError, _linear.error) as error:
        raise ConditionInvalid(f"`{name}` of `{path}`: {error}") from None


def _same(one: Any, other: Any) -> bool:
    """JSON equality: `true` is not 1, and 1 is 1.0."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return bool(one == other)


def _equal(operand: Any) -> Test:
    return lambda value: _same(value, operand)


def _unequal(operand: Any) -> Test:
    return lambda value: not _same(value, operand)


def _compare(compare: Callable[[Any, Any], bool]) -> Callable[[Any], Test]:
    def make(operand: Any) -> Test:
        bound = _number(operand)
        if type(operand) is not int:
            return lambda value: compare(_number(value), bound)
        # Two whole numbers need no decimals to be compared exactly.
        return lambda value: compare(value, operand) if type(value) is int else compare(_number(value), bound)

    return make


def _number(value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise ConditionFailed("a number is compared with something that is none")
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if not number.is_finite():
        raise ConditionFailed("a number is not finite")
    return number


def _member(operand: Any) -> Test:
    if not is_list(operand):
        raise ConditionInvalid("`in` needs a list")
    return lambda value: any(_same(value, item) for item in operand)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ConditionFailed("a text pattern meets something that is no text")
    return value


def _glob(operand: Any) -> Test:
    matches = glob(_text(operand))
    return lambda value: matches(_text(value))


def _pattern(operand: Any) -> Test:
    options = _linear.Options()
    options.log_errors = False
    compiled = _linear.compile(_text(operand), options)
    return lambda value: compiled.search(_text(value)) is not None


def _longer(operand: Any) -> Test:
    if isinstance(operand, bool) or not isinstance(operand, int):
        raise ConditionInvalid("`len_gt` needs a whole number")

    def test(value: Any) -> bool:
        if not isinstance(value, str) and not is_list(value) and not is_object(value):
            raise ConditionFailed("`len_gt` meets something without a length")
        return len(value) > operand

    return test


_OPERATORS: dict[str, Callable[[Any], Test]] = {
    "eq": _equal,
    "ne": _unequal,
    "lt": _compare(operator.lt),
    "lte": _compare(operator.le),
    "gt": _compare(operator.gt),
    "gte": _compare(operator.ge),
    "in": _member,
    "glob": _glob,
    "matches": _pattern,
    "len_gt": _longer,
}
