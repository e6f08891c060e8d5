"""A user without privileges gets the same jail: the full posture, on their own uid."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.integration.sandbox.conftest import NOBODY

pytestmark = pytest.mark.req("SBX-2", "SBX-3", "SBX-6", "SBX-9")


def test_an_ordinary_user_gets_the_full_posture(ordinary_user_python: Callable[..., str]) -> None:
    told = json.loads(ordinary_user_python("as_ordinary_user.py"))
    process, surroundings = told.pop("process"), told.pop("surroundings")
    random = told.pop("random")
    tries = told.pop("tries")
    assert told == {
        "reply": 3,
        "posture": "full",
        "remembered": [["", ""], ["", ""]],
        "threads": 63,
        "faults": ["cpu_limit", "memory_limit", "disk_limit", "pids_limit", "protocol_error", "tool_error"],
        "peak": True,
        "jails": 9,
        "left": [],
    }
    assert len(set(random)) == 3
    assert {name for name, outcome in tries.items() if outcome == "done"} == {"private memory", "write inside"}
    assert (process["uid"], process["uid_map"], process["capabilities"]) == (NOBODY, f"1000 {NOBODY} 1", "0")
    assert (process["seccomp"], process["no_new_privileges"], process["pids"][-1]) == (2, 1, 1)
    assert surroundings["processes"] == ["1"]
    assert surroundings["ids"] == ["1", "0", "1000", "1000", "[]"]


@pytest.mark.req("NET-1")
def test_an_ordinary_users_tools_have_a_network_in_which_every_address_leads_to_the_edge(
    ordinary_user_python: Callable[..., str],
) -> None:
    told = json.loads(ordinary_user_python("as_ordinary_user_network.py"))
    expected = [[address, {"dialled": [address]}] for address in ("::ffff:198.18.0.2", "::ffff:127.0.0.1", "::1")]
    assert told == {"uid": NOBODY, "told": expected}


@pytest.mark.req("OPS-9", "SBX-8")
def test_the_ready_tools_do_the_same_for_an_ordinary_user(ordinary_user_python: Callable[..., str]) -> None:
    assert json.loads(ordinary_user_python("as_ordinary_user_toolbox.py")) == {
        "posture": "full",
        "python": "42",
        "read": "hello\na refund\n",
        "wrote": {"path": "outbox/new/b", "size": 1},
        "found": ["notes/a.md"],
        "ran": "2 notes/a.md\n",
        "started": {"started": 1},
        "unlisted": "binary_not_allowed",
    }
