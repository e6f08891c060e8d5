"""Attacks 119 to 132, played by a scripted jail: whatever comes back has a clean outcome, and no raw byte goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ringfence.assembly import open_runtime
from ringfence.execution.sandbox import Effects, Fault, Job, RawOutput
from ringfence.runtime import Failed, blocking
from ringfence.runtime.blocking import BlockingRuntime
from ringfence.testing import DangerouslyScriptedSandbox
from tests.acceptance.spine import toolbox
from tests.acceptance.spine.household import REPLIES, config

pytestmark = pytest.mark.req("CON-3", "SAN-3")

ANY_TEXT = st.text(st.characters(codec=None), max_size=40)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=12,
)
RAW = st.one_of(
    st.binary(max_size=64),
    ANY_JSON.map(lambda value: json.dumps(value).encode()),
    ANY_JSON.map(lambda value: json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")),
)
FAULTS = st.builds(Fault, code=st.sampled_from(["tool_error", "wall_limit", "nonsense", ""]), message=ANY_TEXT)


class Hostile(DangerouslyScriptedSandbox):
    """Answers with whatever the test put there last."""

    answer: RawOutput = RawOutput(reply=None)

    async def run(self, job: Job) -> RawOutput:
        return self.answer


@pytest.fixture(scope="module")
def jail() -> Hostile:
    return Hostile(REPLIES)


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory, jail: Hostile) -> Iterator[BlockingRuntime]:
    settings_ = config(tmp_path_factory.mktemp("replies"))
    with blocking(open_runtime(settings_, tools=toolbox.ALL, dangerously_sandbox=jail)) as opened:
        yield opened


CALLS: dict[str, dict[str, Any]] = {
    "echo": {"text": "x"},
    "tell": {"question": "x"},
    "look_up": {"name": "x"},
    "note": {"text": "x"},
    "measure": {"value": 1},
}


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tool=st.sampled_from(sorted(CALLS)), reply=RAW, words=st.none() | ANY_TEXT)
def test_whatever_a_jail_replies_a_call_has_a_clean_outcome(
    runtime: BlockingRuntime, jail: Hostile, tool: str, reply: bytes, words: str | None
) -> None:
    jail.answer = RawOutput(reply=reply, for_model=words)
    outcome = runtime.session(agent="ana").call(tool, CALLS[tool])
    assert outcome.status in ("completed", "failed")
    said = json.dumps(outcome.as_dict(), allow_nan=False, ensure_ascii=False) + outcome.for_model()
    said.encode()
    assert not set(said) & set("\x00\x07\x1b\x9b\u202e\u2066\ufeff")
    if isinstance(outcome, Failed):
        assert outcome.code in ("output_invalid", "protocol_error")


@settings(max_examples=100, deadline=None)
@given(fault=FAULTS, printed=st.binary(max_size=32))
def test_whatever_a_fault_says_a_call_has_a_clean_outcome(
    runtime: BlockingRuntime, jail: Hostile, fault: Fault, printed: bytes
) -> None:
    jail.answer = RawOutput(reply=None, fault=fault, printed=printed)
    outcome = runtime.session(agent="ana").call("echo", CALLS["echo"])
    assert isinstance(outcome, Failed)
    (json.dumps(outcome.as_dict(), ensure_ascii=False) + outcome.for_model()).encode()


@pytest.mark.req("AUD-3")
@pytest.mark.parametrize("evidence", [{"odd": object()}, {"text": "\ud800"}, {"number": float("nan")}])
def test_evidence_that_cannot_be_recorded_withholds_the_output(
    runtime: BlockingRuntime, jail: Hostile, evidence: dict[str, Any]
) -> None:
    jail.answer = RawOutput(reply=b'"canary"', evidence=evidence, effects=Effects())
    outcome = runtime.session(agent="ana").call("echo", CALLS["echo"])
    if outcome.status != "completed":
        assert isinstance(outcome, Failed)
        assert outcome.code == "in_doubt"
        assert "canary" not in repr(outcome)


def test_the_trail_is_whole_after_all_of_it(runtime: BlockingRuntime) -> None:
    assert runtime.audit.verify().ok
