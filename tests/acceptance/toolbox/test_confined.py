"""The ready tools on a machine without namespaces: files as with them, and no programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.edge.test_matrix_confined import run_confined

pytestmark = pytest.mark.req("OPS-9", "SBX-6")

PROGRAM = Path(__file__).parent / "in_confinement.py"


@pytest.mark.parametrize("landlock", [1, 7])
def test_files_are_read_searched_and_written_and_no_program_is_started(landlock: int) -> None:
    assert run_confined("user", landlock, PROGRAM) == {
        "read": "hello\na refund\n",
        "found": ["notes/a.md"],
        "named": ["notes/a.md"],
        "wrote": ["written", ["out/deep/b.md"]],
        "outside": ["path_not_reachable", "path_not_reachable"],
        "python": "42",
        "command": "not_enforceable",
    }
