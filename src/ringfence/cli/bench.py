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
    scripts = _scripts()
    if name is not None and name not in scripts:
        raise Misuse(f"there is no measurement `{name}`", remedy=f"choose one of {', '.join(scripts)}")
    chosen = [scripts[name]] if name else list(scripts.values())
    codes = [_run(script, as_json=as_json) for script in chosen]
    return FAILED if any(codes) else COMPLETED


def _scripts() -> dict[str, Path]:
    """Every script of the source tree that this package was loaded from."""
    tree = Path(ringfence.__file__).resolve().parents[2]
    found = sorted((tree / "bench").glob("[a-z]*.py")) if (tree / "pyproject.toml").is_file() else []
    if not found:
        raise Misuse(
            "the measurements are not part of the installed package",
            remedy="clone the source and run `make bench` there",
        )
    return {script.stem: script for script in found}


def _run(script: Path, *, as_json: bool) -> int:
    sys.stdout.flush()
    return subprocess.run([sys.executable, str(script), *(["--json"] if as_json else [])], check=False).returncode
