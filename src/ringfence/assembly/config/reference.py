"""The reference page of the config's keys, written from the same table that the loader obeys.

Takes: the table of keys.  Gives: Markdown.  Never: mentions a key that does not exist.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ringfence.assembly.config.keys import FILE
from ringfence.assembly.config.shape import UNSET, Key, Listing, Named, Number, Open, Record, Shape, Text, Word

_HEAD = """# `ringfence.yaml`

Every key that exists. A key that is not listed here is an error, reported with its line and the nearest known key; all
errors of a file come in one report, and nothing of a file with an error is applied.
This page and `ringfence.schema.json` (for editors) are generated from `ringfence.assembly.config.keys` by
`scripts/config_schema`; a test holds them current.

The file is YAML without surprises: `no`, `on` and dates are text; anchors, aliases, tags, merge keys, repeated keys and
a second document are errors; at most 1 MiB and 32 levels. A key without a value is an error, not a default. Paths are
read from the folder of the file, may be absolute, and never climb with `..`.

| key | value | left out | meaning |
|---|---|---|---|
"""


def reference_page() -> str:
    """The whole page."""
    return _HEAD + "".join(_rows(FILE, at=""))


def _rows(shape: Record, *, at: str) -> Iterator[str]:
    for name, key in shape.keys.items():
        path = f"{at}{name}"
        yield f"| `{path}` | {_cell(_value(key.shape))} | {_left_out(key)} | {_cell(key.means)} |\n"
        yield from _inner(key.shape, at=path)


def _inner(shape: Shape, *, at: str) -> Iterator[str]:
    match shape:
        case Record():
            yield from _rows(shape, at=f"{at}.")
        case Named():
            yield from _inner(shape.value, at=f"{at}.<name>")
        case Listing():
            yield from _inner(shape.item, at=f"{at}[]")
        case _:
            return


def _value(shape: Shape) -> str:
    match shape:
        case Text():
            return shape.says
        case Word():
            return ", ".join(f"`{choice}`" for choice in shape.choices)
        case Number():
            return _number(shape)
        case Listing():
            return f"{_value(shape.item)}; or a list" if shape.single else f"a list: {_value(shape.item)}"
        case Named():
            return f"a mapping; each key {shape.name.says}"
        case Record():
            return "a mapping"
        case Open():
            return "any value"


def _number(shape: Number) -> str:
    if shape.least == shape.most:
        return f"{shape.least:g}"
    return "a number above 0" if shape.fraction else f"a whole number from {shape.least:g}"


def _left_out(key: Key) -> str:
    if key.required:
        return "**error**"
    default: Any = key.default
    if default is UNSET:
        return ""
    return "`[]`" if default == () else "" if default == {} else f"`{default}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
