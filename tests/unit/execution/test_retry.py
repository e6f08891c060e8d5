"""How often and how long apart a call is tried again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ringfence import Retry, Tool
from ringfence.execution.idempotency import derive_key, namespaced
from ringfence.execution.retry import pauses, repeatable
from tests.acceptance.spine import toolbox


@pytest.mark.req("CON-9")
@pytest.mark.parametrize(
    ("tool", "again"),
    [
        (toolbox.flaky, True),
        (toolbox.fetch_lead, True),
        (toolbox.flaky_write, False),
        (toolbox.pay, False),
        (toolbox.deduped_write, True),
    ],
)
def test_only_a_tool_that_does_no_harm_twice_is_repeatable(tool: Tool, again: bool) -> None:
    assert repeatable(tool) is again


@pytest.mark.req("CON-9")
def test_pauses_double_vary_and_end() -> None:
    patient = replace(toolbox.flaky, retry=Retry(5, backoff=1.0))
    for _ in range(20):
        waits = list(pauses(patient))
        assert len(waits) == 4
        assert all(0.5 * 2**at <= wait <= 1.0 * 2**at for at, wait in enumerate(waits))
    assert max(pauses(replace(toolbox.flaky, retry=Retry(30, backoff=10.0)))) <= 60
    assert list(pauses(toolbox.echo)) == []
    assert list(pauses(replace(toolbox.flaky, retry=Retry(1)))) == []


@pytest.mark.req("IDM-1")
def test_a_derived_key_names_session_turn_tool_and_arguments() -> None:
    said = {"session": "s", "turn": "1", "tool": "t", "arguments": {"a": 1, "b": 2}}
    key = derive_key(session="s", turn="1", tool="t", arguments={"b": 2, "a": 1})
    assert key == derive_key(**said)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    for changed in ({"session": "x"}, {"turn": "2"}, {"tool": "u"}, {"arguments": {"a": 1}}):
        assert derive_key(**{**said, **changed}) != key  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert len({namespaced("k", agent=a, tool=t) for a in ("x", "y") for t in ("x", "y")}) == 4
