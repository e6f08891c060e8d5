"""`ringfence bench`: the project's own measurements, which live beside its source.

Takes: a figure's name, or none for all.  Gives: what the scripts print.  Never: pretends to measure without them.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click

import ringfence
from ringfence.cli.ending import COMPLETED, FAILED
from ringfence.cli.options import json_option
from ringfence.errors import Misuse


@click.command("bench")
@click.argument("name", required=False)
@json_option
def command(name: str | None, as_json: bool) -> int:
    """Run the measurement NAME, or all of them. Needs a source checkout."""
    tree = _tree()
    names = _names(tree / "bench")
    if name is not None and name not in names:
        raise Misuse(f"there is no measurement `{name}`", remedy=f"choose one of {', '.join(names)}")
    words = [*([name] if name else []), *(["--json"] if as_json else [])]
    done = subprocess.run([sys.executable, "-m", "bench", *words], cwd=tree, check=False)
    return FAILED if done.returncode else COMPLETED


def _names(folder: Path) -> list[str]:
    """Plain files, and folders that can be run."""
    files = [file.stem for file in folder.glob("[a-z]*.py")]
    return sorted([*files, *(file.parent.name for file in folder.glob("*/__main__.py"))])


def _tree() -> Path:
    """The source tree that this package was loaded from."""
    tree = Path(ringfence.__file__).resolve().parents[2]
    if not (tree / "pyproject.toml").is_file() or not (tree / "bench").is_dir():
        raise Misuse(
            "the measurements are not part of the installed package",
            remedy="clone the source and run `make bench` there",
        )
    return tree
