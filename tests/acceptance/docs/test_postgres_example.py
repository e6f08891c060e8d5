"""The PostgreSQL example starts with one command and ends with one."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.acceptance.cli.typed import ENVIRONMENT, PROGRAM
from tests.architecture.source import ROOT

START = str(ROOT / "examples" / "postgres" / "start")


@pytest.mark.req("OPS-1", "DB-1", "DB-3")
def test_one_command_starts_it_and_one_ends_it() -> None:
    # A socket's path is short by law, and the server's user must be able to walk to it.
    with tempfile.TemporaryDirectory(prefix="rfex-", dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        state = Path(folder) / "state"
        environment = {**ENVIRONMENT, "RINGFENCE": PROGRAM, "RINGFENCE_EXAMPLE_STATE": str(state)}

        def run(*words: str) -> subprocess.CompletedProcess[str]:
            command = [START, *words]
            return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)

        try:
            first = run()
            assert first.returncode == 0, first.stderr
            assert "Ada" in first.stdout
            assert "greet" in first.stdout
        finally:
            ended = run("--stop")
    assert (ended.returncode, state.exists()) == (0, False)
