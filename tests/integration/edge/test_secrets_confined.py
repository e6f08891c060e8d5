"""Without namespaces a secret is a placeholder too: its value is put in outside, in its own slot and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.edge.test_matrix_confined import MACHINES, run_confined
from tests.integration.sandbox.test_confined import Who

pytestmark = pytest.mark.req("SEC-2", "SBX-6")

PROGRAM = Path(__file__).parent / "in_confinement_secrets.py"


@pytest.mark.parametrize(("who", "landlock"), MACHINES)
def test_the_value_arrives_in_its_slot_and_files_and_network_serve_one_call(who: Who, landlock: int) -> None:
    assert run_confined(who, landlock, PROGRAM) == {
        "posture": "confined",
        "status": 200,
        "arrived": True,
        "known to the tool": False,
        "misplaced": [True, ["secret_misplaced"]],
        "elsewhere": [True, False],
        "carried": ["hello", "hello", "hello"],
        "asked": True,
        "kept": ["outbox/answer"],
    }
