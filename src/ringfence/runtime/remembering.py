"""A call on record, told as if it had just ended.

Takes: a recorded call.  Gives: its outcome.  Never: makes an end of one that has none.
"""

from __future__ import annotations

from ringfence.errors import CODES, CallRefused, RingfenceError
from ringfence.runtime.invocation import Recorded, Status
from ringfence.runtime.outcome import Completed, Failed, Outcome, Refused
from ringfence.sanitise import clean_output

_MESSAGE_BYTES = 2_000


def remembered(recorded: Recorded) -> Outcome:
    outcome, invocation_id = recorded.outcome, recorded.invocation.id
    if recorded.status is Status.COMPLETED and outcome is not None:
        return Completed(
            invocation_id=invocation_id, output=outcome["output"], text=outcome["text"], effects=outcome["effects"]
        )
    if recorded.status in (Status.FAILED, Status.IN_DOUBT) and outcome is not None:
        code = outcome["code"]
        return Failed(invocation_id=invocation_id, code=code, message=outcome["message"], remedy=CODES[code].remedy)
    if recorded.status is Status.RUNNING:
        return plain_refusal(invocation_id, CallRefused("the call is running", code="in_flight"))
    return plain_refusal(invocation_id, CallRefused("the call has ended", code=recorded.code or "approval_void"))


def plain_refusal(invocation_id: str, refusal: RingfenceError) -> Refused:
    message = clean_output(refusal.message, limit=_MESSAGE_BYTES).text
    return Refused(invocation_id=invocation_id, code=refusal.code, message=message, remedy=refusal.remedy)
