"""Whatever is handed over as a config, the answer is a config or a report; never another error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ringfence.assembly.config import load_config
from ringfence.assembly.config.document import read_yaml
from ringfence.assembly.config.plain import is_list, is_mapping
from ringfence.assembly.config.problems import KeyPath
from ringfence.errors import ConfigInvalid

pytestmark = pytest.mark.req("VIEW-1")

EXAMPLE: dict[str, Any] = {"tool": "pay", "agent": "ana", "binding": "a:b", "args": {"x": 1}}
WHOLE: dict[str, Any] = {
    "version": 1,
    "tools": {"modules": ["a.b"], "path": ["."]},
    "people": {"alice": {"roles": ["approver"], "groups": ["g"]}},
    "agents": {
        "ana": {
            "owner": "alice",
            "allowed_tools": ["x"],
            "workspace": "home",
            "network": {"allow": ["a.example"], "cidrs": ["203.0.113.0/24"]},
            "files": {"read": ["a"], "write": ["b"]},
            "secrets": {"allow": ["KEY"]},
            "processes": {"allow": ["git"]},
        }
    },
    "policy": {
        "rules": [
            {
                "id": "one",
                "match": {"tool": "pay", "agent": ["ana"], "binding": "*", "class": "read", "egress": "*"},
                "when": {"args.x": {"gt": 1}, "args.y": {"matches": "a+"}},
                "decision": "deny",
                "because": "y",
                "mode": "shadow",
                "holds": [EXAMPLE],
                "not_holds": [EXAMPLE],
            }
        ]
    },
    "approvals": {"expire": "1h", "routes": {"human": {"group": "g"}, "dual": {"group": "g"}}},
    "secrets": {"KEY": {"env": "A"}, "OTHER": {"file": "f"}},
    "sandbox": {"kind": "local", "env": ["TZ"], "limits": {"pids": 1, "wall_seconds": 1.5}, "pool": {"spares": 1}},
    "store": {"url": "sqlite:///x.db"},
    "audit": {"anchor": "a", "signing_key": "k"},
}


def places(value: Any, at: KeyPath = ()) -> Iterator[KeyPath]:
    yield at
    keys: Any = value.keys() if is_mapping(value) else range(len(value)) if is_list(value) else ()
    for key in keys:
        yield from places(value[key], (*at, key))


def problems_of(attempt: Callable[[], object]) -> tuple[str, ...]:
    try:
        attempt()
    except ConfigInvalid as refused:
        return refused.problems
    return ()


def replaced(value: Any, at: KeyPath, put: Any) -> Any:
    if not at:
        return put
    copy = value.copy()
    copy[at[0]] = replaced(value[at[0]], at[1:], put)
    return copy


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.binary(max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def test_the_sample_that_is_bent_is_straight() -> None:
    assert load_config(WHOLE).agents.keys() == {"ana"}


@settings(max_examples=400, deadline=None)
@given(at=st.sampled_from([place for place in places(WHOLE) if place]), put=ODD)
def test_one_odd_value_anywhere_gives_a_config_or_a_report(at: KeyPath, put: Any) -> None:
    found = problems_of(lambda: load_config(replaced(WHOLE, at, put)))
    assert all(problem.isprintable() for problem in found)


@settings(max_examples=300, deadline=None)
@given(text=st.text(st.sampled_from("ab:-? \n\t[]{},&*!|>'\"%#@~<.01eé\0\x85\ufeff"), max_size=60))
def test_any_text_is_read_or_reported(text: str) -> None:
    _, report = read_yaml(text, file="f.yaml")
    found = problems_of(report.require_clean)
    assert all(problem.startswith("f.yaml:") for problem in found)
