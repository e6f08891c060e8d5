"""YAML text to plain values with a mark for every key, without ever building a Python object of the text's choosing.

Takes: the text of a config file.  Gives: mappings, lists and scalars, and where each stands.
Never: follows an alias, obeys a tag, merges a key, or reads deeper than `DEPTH`; it works on the parser's events, so
what is refused is refused before anything was built from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

from ringfence.assembly.config.plain import INVALID, text_problem
from ringfence.assembly.config.problems import KeyPath, Mark, Places, Report, TooManyProblems, shown
from ringfence.assembly.config.scalars import NotAScalar, read_plain

DEPTH = 32
MOST_BYTES = 1024 * 1024

# The C scanner where PyYAML was built with it: ten times faster, the same events.
_yaml: Any = yaml
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class _Unreadable(Exception):
    """The rest of the text cannot be read; what is wrong is in the report."""


def read_yaml(text: str, *, file: str) -> tuple[Any, Report]:
    """The one document of the text; `INVALID` stands where nothing could be read."""
    marks: dict[KeyPath, Mark] = {}
    report = Report(Places(file=file, marks=marks))
    try:
        return _Reader(text, marks=marks, report=report).document(), report
    except (_Unreadable, TooManyProblems):
        return INVALID, report


class _Reader:
    def __init__(self, text: str, *, marks: dict[KeyPath, Mark], report: Report) -> None:
        self._marks = marks
        self._report = report
        self._events = self._parse(text)

    def document(self) -> Any:
        next(self._events)
        event = next(self._events)
        if isinstance(event, yaml.StreamEndEvent):
            return None
        value = self._value(next(self._events), path=(), depth=0)
        next(self._events)
        extra = next(self._events)
        if not isinstance(extra, yaml.StreamEndEvent):
            self._report.error((), "the file holds more than one document", mark=_mark(extra))
        return value

    def _parse(self, text: str) -> Iterator[Any]:
        odd = _UNPRINTABLE.search(text)
        if odd:
            line, column = text.count("\n", 0, odd.start()) + 1, odd.start() - text.rfind("\n", 0, odd.start())
            self._report.error((), "a control character that YAML does not allow", mark=Mark(line=line, column=column))
            raise _Unreadable
        try:
            yield from _yaml.parse(text, Loader=_LOADER)
        except yaml.MarkedYAMLError as error:
            at = error.problem_mark or error.context_mark
            mark = Mark(line=at.line + 1, column=at.column + 1) if at else None
            self._report.error((), f"not valid YAML: {shown(error.problem or 'unreadable')}", mark=mark)
            raise _Unreadable from None

    def _value(self, event: Any, *, path: KeyPath, depth: int) -> Any:
        if depth > DEPTH:
            self._report.error((), f"nested deeper than {DEPTH} levels", mark=_mark(event))
            raise _Unreadable
        if isinstance(event, yaml.AliasEvent):
            self._report.error(path, "an alias (`*name`) is not read", remedy="write the value out", mark=_mark(event))
            return INVALID
        self._refuse_decoration(event, path=path)
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, path=path)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._list(path=path, depth=depth)
        return self._mapping(path=path, depth=depth)

    def _refuse_decoration(self, event: Any, *, path: KeyPath) -> None:
        if event.anchor is not None:
            self._report.error(path, "an anchor (`&name`) is not read", remedy="leave it out", mark=_mark(event))
        if event.tag is not None:
            self._report.error(path, "a tag (`!name`) is not read", remedy="leave it out", mark=_mark(event))

    def _scalar(self, event: Any, *, path: KeyPath) -> Any:
        try:
            value = read_plain(event.value) if event.implicit[0] else event.value
            problem = text_problem(event.value)
        except NotAScalar as error:
            value, problem = INVALID, str(error)
        if problem:
            self._report.error(path, problem, mark=_mark(event))
        return INVALID if problem else value

    def _list(self, *, path: KeyPath, depth: int) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            place = (*path, len(items))
            self._marks[place] = _mark(event)
            items.append(self._value(event, path=place, depth=depth + 1))
        return items

    def _mapping(self, *, path: KeyPath, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._key(event, path=path, depth=depth, members=members)
            place = path if key is None else (*path, key)
            if key is not None:
                self._marks[place] = _mark(event)
            value = self._value(next(self._events), path=place, depth=depth + 1)
            if key is not None:
                members[key] = value
        return members

    def _key(self, event: Any, *, path: KeyPath, depth: int, members: dict[str, Any]) -> str | None:
        key = self._value(event, path=path, depth=depth + 1)
        if key is INVALID:
            return None
        if key == "<<" and event.implicit[0]:
            self._report.error(path, "a merge key (`<<`) is not read", remedy="write it out", mark=_mark(event))
        elif not isinstance(key, str):
            self._report.error(path, "a key must be text", remedy="put it in quotes", mark=_mark(event))
        elif key in members:
            first = self._marks[(*path, key)].line
            message = f"the key stands here a second time; the first is on line {first}"
            self._report.error((*path, key), message, mark=_mark(event))
        else:
            return key
        return None


def _mark(event: Any) -> Mark:
    return Mark(line=event.start_mark.line + 1, column=event.start_mark.column + 1)
