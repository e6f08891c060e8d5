"""How often and how long apart a call is tried again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ringfence import Limits, Retry, Tool
from ringfence.contract.call import Shape
from ringfence.execution.idempotency import derive_key, namespaced
from ringfence.execution.retry import may_repeat, pauses, repeatable
from ringfence.execution.sandbox import Effects, Fault, Job, RawOutput
from ringfence.policy.grant import Grant
from ringfence.registry.pins import Trust
from ringfence.registry.registry import RegisteredTool
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
@pytest.mark.parametrize(
    ("code", "network", "again"),
    [
        ("tool_error", {"bytes_out": 0}, True),
        ("wall_limit", {"bytes_out": 0}, True),
        ("tool_error", {"bytes_out": 1}, False),
        ("tool_error", None, False),
        ("protocol_error", {"bytes_out": 0}, False),
    ],
)
def test_a_call_that_changes_something_is_repeated_only_where_nothing_left(
    code: str, network: dict[str, int] | None, again: bool
) -> None:
    raw = RawOutput(reply=None, fault=Fault(code=code, message="x"), effects=Effects(network=network))
    grant = Grant(capabilities=toolbox.post_lead.needs)
    tool = RegisteredTool(
        tool=toolbox.post_lead,
        source="x",
        source_digest="x",
        trust=Trust.PINNED,
        quarantine=None,
        shape=Shape(toolbox.post_lead),
    )
    job = Job(
        kind="python",
        invocation_id="i",
        tool=tool,
        arguments=b"{}",
        grant=grant,
        limits=Limits(),
        agent="ana",
        session="s",
        idempotency_key="k",
    )
    assert may_repeat(job, raw) is again
    assert not may_repeat(job, RawOutput(reply=b"1"))


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
