"""Every attack in one table, merged from the groups.

Takes: the files `rows_<group>.py` beside this one, each with `ROWS`.  Gives: `TABLE`.  Never: two rows for one probe.
"""

from __future__ import annotations

import importlib
from pathlib import Path

from tests.attack.row import Row

FOLDER = Path(__file__).resolve().parent
PROBES = "probes"


def _merged() -> tuple[Row, ...]:
    groups = [importlib.import_module(f"tests.attack.{path.stem}").ROWS for path in sorted(FOLDER.glob("rows_*.py"))]
    return tuple(sorted((row for rows in groups for row in rows), key=lambda row: (row.line, row.probe)))


TABLE: tuple[Row, ...] = _merged()


def modules() -> list[str]:
    """The tool modules that the table needs, as a config names them."""
    return sorted({f"{PROBES}.{row.module}" for row in TABLE})
