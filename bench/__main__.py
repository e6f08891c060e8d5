"""`python -m bench [NAME] [--json]`: every bench, or one; `python -m bench peers` the comparison of sandboxes.

Takes: arguments.  Gives: tables on standard output; 0 when everything ran, 2 for a bench that does not exist.
Never: fails for a goal that was missed; the table says so, and machines are noisy.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import cast

import bench
from bench.harness.rows import Row
from bench.harness.table import as_json, as_text


@dataclass(frozen=True, kw_only=True)
class Bench:
    """One file of this folder."""

    name: str
    title: str
    measure: Callable[[], Iterable[Row]]


def names() -> list[str]:
    """Every plain file beside this one is a bench; folders hold what benches stand on."""
    return sorted(found.name for found in iter_modules(bench.__path__) if not found.ispkg and found.name != "__main__")


def folders() -> list[str]:
    """A folder that can be run is a table of another kind than ratios, and is run by its name alone: it takes long."""
    return sorted(path.parent.name for path in Path(bench.__file__).parent.glob("*/__main__.py"))


def load(name: str) -> Bench:
    module = import_module(f"bench.{name}")
    title = (module.__doc__ or name).strip().splitlines()[0]
    return Bench(name=name, title=title, measure=cast("Callable[[], Iterable[Row]]", module.measure))


def main(argv: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else list(argv)
    if words and words[0] in folders():
        found: Callable[[Sequence[str]], int] = import_module(f"bench.{words[0]}.__main__").main
        return found(words[1:])
    parser = argparse.ArgumentParser(prog="bench", description=bench.__doc__)
    parser.add_argument(
        "name",
        nargs="?",
        metavar="NAME",
        help=f"one of {', '.join(names())}; all of them if left out; or {', '.join(folders())}",
    )
    parser.add_argument("--json", action="store_true", help="one JSON document instead of tables")
    options = parser.parse_args(words)
    if options.name is not None and options.name not in names():
        sys.stderr.write(f"there is no bench `{options.name}`; there are {', '.join([*names(), *folders()])}\n")
        return 2
    chosen = [load(name) for name in ([options.name] if options.name else names())]
    if options.json:
        sys.stdout.write(as_json(row for each in chosen for row in each.measure()))
        return 0
    for each in chosen:
        sys.stdout.write(as_text(each.title, each.measure()) + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
