"""Rows for people and rows for programs.

Takes: rows.  Gives: an aligned table, or one JSON document.  Never: rounds what programs read.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Sequence

from bench.harness.rows import Row

NONE = "-"
HEAD = ("id", "what", "beside", "goal", "measured", "verdict")


def as_text(title: str, rows: Iterable[Row]) -> str:
    """A table with a line of figures under each row, and one of who served it."""
    listed = list(rows)
    cells = [HEAD, *(_cells(row) for row in listed)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(HEAD))]
    lines = [title, "", _line(HEAD, widths), _line(["-" * width for width in widths], widths)]
    for row, line in zip(listed, cells[1:], strict=True):
        told = [row.detail, *([row.served] if row.served else [])]
        lines += [_line(line, widths), *(f"{'':{widths[0]}}  {each}" for each in told)]
    return "\n".join(lines) + "\n"


def as_json(rows: Iterable[Row]) -> str:
    """Everything a program needs to compare runs, the machine's state included."""
    document = {
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "rows": [row.document() for row in rows],
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _cells(row: Row) -> tuple[str, ...]:
    measured = NONE if row.measured is None else f"{row.measured:.3g} {row.unit}"
    return (row.id, row.what, row.baseline, str(row.goal or NONE), measured, row.verdict)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(f"{cell:{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip()
