"""Holds a value against its shape: unknown keys, missing keys, wrong kinds, wrong words.

Takes: plain values and the shape they should have.  Gives: the same values with defaults filled in, and a report.
Never: stops at the first problem, and never repeats a value that could be a secret.
"""

from __future__ import annotations

import re
from typing import Any

from ringfence.assembly.config.plain import INVALID, is_list, is_mapping
from ringfence.assembly.config.problems import KeyPath, Mark, Report, shown
from ringfence.assembly.config.shape import UNSET, Listing, Named, Number, Open, Record, Shape, Text, Word
from ringfence.assembly.config.suggest import did_you_mean, nearest
from ringfence.errors import RingfenceError


def check(shape: Shape, value: Any, *, path: KeyPath, report: Report) -> Any:
    """The value with its defaults; `INVALID` where it cannot be used, and then the report says why."""
    if value is INVALID:
        return INVALID
    match shape:
        case Text():
            return _text(shape, value, path=path, report=report)
        case Word():
            return _word(shape, value, path=path, report=report)
        case Number():
            return _number(shape, value, path=path, report=report)
        case Listing():
            return _list(shape, value, path=path, report=report)
        case Named():
            return _named(shape, value, path=path, report=report)
        case Record():
            return _record(shape, value, path=path, report=report)
        case Open():
            return value


def _text(shape: Text, value: Any, *, path: KeyPath, report: Report, mark: Mark | None = None) -> Any:
    if not isinstance(value, str):
        return _wrong_kind(value, wanted=f"{shape.says} (text)", path=path, report=report)
    try:
        if shape.check is not None:
            shape.check(value)
    except (RingfenceError, ValueError) as error:
        report.refused(path, error, mark=mark)
        return INVALID
    if shape.pattern is not None and not re.fullmatch(shape.pattern, value):
        report.error(path, f"`{shown(value)}` is not {shape.says}", mark=mark)
        return INVALID
    return value


def _word(shape: Word, value: Any, *, path: KeyPath, report: Report) -> Any:
    wanted = ", ".join(f"`{choice}`" for choice in shape.choices)
    if not isinstance(value, str):
        return _wrong_kind(value, wanted=f"one of {wanted}", path=path, report=report)
    if value not in shape.choices:
        remedy = did_you_mean(value, known=shape.choices)
        report.error(path, f"`{shown(value)}` is none of {wanted}", remedy=remedy if "mean" in remedy else "")
        return INVALID
    return value


def _number(shape: Number, value: Any, *, path: KeyPath, report: Report) -> Any:
    kind = "a number" if shape.fraction else "a whole number"
    if isinstance(value, bool) or not isinstance(value, int | float if shape.fraction else int):
        return _wrong_kind(value, wanted=kind, path=path, report=report)
    if not shape.least <= value <= shape.most:
        report.error(path, f"`{value}` is not {kind} {_range(shape)}")
        return INVALID
    return value


def _range(shape: Number) -> str:
    if shape.least == shape.most:
        return f"that this version reads; it must be {shape.least:g}"
    return f"from {shape.least:g} to {int(shape.most)}"


def _list(shape: Listing, value: Any, *, path: KeyPath, report: Report) -> Any:
    if shape.single and isinstance(value, str):
        value, paths = [value], [path]
    elif is_list(value):
        paths = [(*path, at) for at in range(len(value))]
    else:
        remedy = "put it in brackets: `[…]`" if isinstance(value, str) else ""
        return _wrong_kind(value, wanted="a list", path=path, report=report, remedy=remedy)
    if len(value) < shape.least:
        report.error(path, "the list is empty, and would match nothing")
        return INVALID
    return [check(shape.item, item, path=at, report=report) for at, item in zip(paths, value, strict=True)]


def _named(shape: Named, value: Any, *, path: KeyPath, report: Report) -> Any:
    if not is_mapping(value):
        return _wrong_kind(value, wanted="a mapping", path=path, report=report)
    checked: dict[str, Any] = {}
    for name, item in value.items():
        place = (*path, name)
        # The path of a refused name stops above it: what stands where a secret's name belongs may be its value.
        if _text(shape.name, name, path=path, report=report, mark=report.places.mark(place)) is INVALID:
            checked[name] = INVALID
            continue
        checked[name] = check(shape.value, item, path=place, report=report)
        if shape.check is not None and checked[name] is not INVALID:
            checked[name] = _judged(shape, name, checked[name], path=place, report=report)
    return checked


def _judged(shape: Named, name: str, value: Any, *, path: KeyPath, report: Report) -> Any:
    try:
        if shape.check is not None:
            shape.check(name, value)
    except (RingfenceError, ValueError, TypeError) as error:
        report.refused(path, error)
        return INVALID
    return value


def _record(shape: Record, value: Any, *, path: KeyPath, report: Report) -> Any:
    if not is_mapping(value):
        return _wrong_kind(value, wanted="a mapping", path=path, report=report)
    known = [name for name in value if name in shape.keys]
    unknown = [name for name in value if name not in shape.keys]
    for name in unknown:
        report.error((*path, name), f"unknown key `{shown(name)}`", remedy=did_you_mean(name, known=shape.keys))
    _count(shape, known=known, unknown=unknown, path=path, report=report)
    checked = {name: check(shape.keys[name].shape, value[name], path=(*path, name), report=report) for name in known}
    # A misspelt key was reported with its right spelling; that it is also missing would say the same thing twice.
    misspelt = {nearest(name, known=shape.keys) for name in unknown}
    for name, key in shape.keys.items():
        if key.required and name not in value and name not in misspelt:
            report.error(path, f"the key `{name}` is missing", remedy=f"it says {key.means}")
        elif key.default is not UNSET and name not in value:
            checked[name] = check(key.shape, key.default, path=(*path, name), report=report)
    return checked


def _count(shape: Record, *, known: list[str], unknown: list[str], path: KeyPath, report: Report) -> None:
    names = ", ".join(f"`{name}`" for name in shape.keys)
    if len(known) + len(unknown) < shape.least:
        report.error(path, f"needs one of {names}")
    if shape.most is not None and len(known) > shape.most:
        report.error(path, f"has more than one of {names}", remedy="keep one")


def _wrong_kind(value: Any, *, wanted: str, path: KeyPath, report: Report, remedy: str = "") -> Any:
    if value is None:
        remedy = "leave the key out or give it a value" if path else "write at least `version: 1`"
    report.error(path, f"{_kind(value)} where {wanted} is meant", remedy=remedy)
    return INVALID


def _kind(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "`true` or `false`"
    if isinstance(value, str):
        return "text"
    if isinstance(value, int | float):
        return "a number"
    return "a list" if isinstance(value, list | tuple) else "a mapping"
