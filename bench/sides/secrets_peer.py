"""detect-secrets, in an environment of its own: the same text, line by line, through every plugin it has.

Takes: questions on standard input.  Gives: how long a scan took, or with `--found` which of the given texts it flags.
Never: imports Ringfence, which is not installed there.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.harness.worker import serve
from bench.texts.samples import sample

SIZE = 1 << 14


def flags(path: str) -> bool:
    """Whether any plugin finds a secret in the file, with the filters that are on by default."""
    scan: Callable[[str], Iterable[Any]] = import_module("detect_secrets.core.scan").scan_file
    return len(list(scan(path))) > 0


def flags_each(texts: Iterable[str], *, folder: Path) -> list[bool]:
    found: list[bool] = []
    for number, text in enumerate(texts):
        path = folder / f"{number}.txt"
        path.write_text(text, encoding="utf-8", errors="replace")
        found.append(flags(str(path)))
    return found


def main() -> None:
    settings = import_module("detect_secrets.settings")
    with settings.default_settings(), TemporaryDirectory() as folder:
        if "--found" in sys.argv[1:]:
            sys.stdout.write(json.dumps(flags_each(map(json.loads, sys.stdin), folder=Path(folder))))
        else:
            path = Path(folder, "sample.txt")
            path.write_text(sample("ascii", size=SIZE), encoding="utf-8")
            serve({"scan": lambda: flags(str(path))})


if __name__ == "__main__":
    main()
