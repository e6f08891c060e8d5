"""What a caller is told: four shapes, each plain data and each safe for a model."""

from __future__ import annotations

import json

import pytest

from ringfence.errors import CODES, Audience
from ringfence.runtime import Completed, Failed, Outcome, Refused, Waiting
from ringfence.runtime.invocation import MOVES, Status

OUTCOMES: list[Outcome] = [
    Completed(invocation_id="inv_1", output={"a": 1}, text='{"a":1}'),
    Waiting(invocation_id="inv_1", approval_id="apr_1", votes_needed=2),
    Refused(invocation_id="inv_1", code="policy_denied", message="no", remedy="an operator's remedy"),
    Failed(invocation_id="inv_1", code="tool_error", message="it broke", remedy="an author's remedy"),
]


@pytest.mark.req("OPS-7")
@pytest.mark.parametrize("outcome", OUTCOMES, ids=lambda outcome: outcome.status)
def test_an_outcome_is_plain_data_and_framed_text(outcome: Outcome) -> None:
    document = outcome.as_dict()
    assert json.loads(json.dumps(document)) == document
    assert (document["status"], document["invocation_id"]) == (outcome.status, "inv_1")
    text = outcome.for_model()
    assert text.startswith("[ringfence ")
    assert text.endswith(" end]")


@pytest.mark.req("OPS-7")
def test_a_model_is_told_what_a_model_can_do_and_no_more() -> None:
    for code, row in CODES.items():
        told = Refused(invocation_id="inv_1", code=code, message="no", remedy=row.remedy).for_model()
        assert (row.remedy in told) is (row.audience is Audience.MODEL)
        assert code in told


@pytest.mark.req("AUD-1")
def test_a_call_that_has_ended_moves_no_more() -> None:
    assert set(Status) - MOVES.keys() == {
        Status.REFUSED, Status.COMPLETED, Status.FAILED, Status.REJECTED, Status.EXPIRED, Status.VOID, Status.CANCELLED,
    }  # fmt: skip
    assert not any(Status.RUNNING in to for came, to in MOVES.items() if came is not Status.QUEUED)
