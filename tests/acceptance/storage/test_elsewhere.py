"""Rows are kept the same way for an ordinary user, and where a machine has no namespaces."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.architecture.source import ROOT

pytestmark = pytest.mark.req("STO-1", "SBX-6")

PROGRAM = Path(__file__).with_name("elsewhere.py")
LAUNCHER = ROOT / "tests" / "attack" / "launcher.py"
# An ordinary user has no way to a private home, and needs this one.
PYTHON = "/usr/bin/python3"
NOBODY = 65534
USER: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
CONFINED = [str(LAUNCHER), "--without", "namespaces", "--landlock", "7"]


def environment() -> dict[str, str]:
    packages = [path for path in sys.path if path.endswith("-packages")]
    paths = [str(ROOT / "src"), str(ROOT), *packages]
    return {"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(paths), "TMPDIR": "/tmp"}


@pytest.mark.parametrize(
    ("through", "who", "posture"),
    [([], USER, "full"), (CONFINED, {}, "confined"), (CONFINED, USER, "confined")],
    ids=["an ordinary user", "no namespaces", "an ordinary user without namespaces"],
)
def test_rows_are_kept_and_are_nobody_elses(through: list[str], who: dict[str, Any], posture: str) -> None:
    done = subprocess.run(
        [PYTHON, "-P", *through, str(PROGRAM)], env=environment(), cwd="/", capture_output=True, text=True,
        check=False, timeout=120, **who,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "posture": posture,
        "other tool": [{"a": 1}, None],
        "other agent": [None, None],
        "awaited": [None, ["x"]],
        "effects": {"reads": 1, "writes": 1, "bytes_written": 2},
    }
