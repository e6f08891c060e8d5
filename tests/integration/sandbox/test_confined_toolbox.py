"""The ready tools without namespaces: they do the same, and reach no more."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from tests.integration.sandbox.test_confined import HERE, LAUNCHER, PYTHON, SECONDS, Who, as_whom, environment

pytestmark = pytest.mark.req("OPS-9", "SBX-6")


@pytest.mark.parametrize("who", ["root", "user"])
@pytest.mark.parametrize("landlock", [1, 7])
def test_the_ready_tools_do_the_same_and_reach_no_more(who: Who, landlock: int) -> None:
    limits = ["--without", "namespaces", "--landlock", str(landlock)]
    command = [PYTHON, "-P", str(LAUNCHER), *limits, str(HERE / "in_confinement_toolbox.py")]
    done = subprocess.run(
        command,
        env=environment(),
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
        **as_whom(who),
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    assert told == {
        "posture": "confined",
        "python": "42",
        "reached": "PermissionError",
        "read": "ana knowledge",
        "climbed": "path_not_reachable",
        "private": "path_not_reachable",
        "wrote": {"path": "outbox/new/b", "size": 9},
        "over": "path_not_reachable",
        "found": ["knowledge/a", "outbox/new/b"],
    }
