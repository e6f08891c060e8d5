"""What a jail said becomes what a model may read: validated, cleaned, and validated once more.

Takes: a reply.  Gives: clean output, clean text and the findings.
Never: passes on output that does not fit its schema, before or after cleaning.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ringfence.contract.call import Shape
from ringfence.contract.fingerprint import canonical
from ringfence.errors import CallFailed
from ringfence.execution.execute import Reply
from ringfence.execution.sandbox import RawOutput
from ringfence.sanitise import Finding, clean_for_model, clean_json


class Cleansed(NamedTuple):
    """Output that is fit to be seen; `spelled` is its one spelling."""

    output: Any
    spelled: bytes
    text: str
    findings: tuple[Finding, ...]
    raw: RawOutput


def cleanse(reply: Reply, *, shape: Shape) -> Cleansed:
    """The reply, fit to be seen; raises `output_invalid` where that cannot be done."""
    shape.check_output(reply.output)
    output, findings = _cleaned(reply.output)
    if findings:
        shape.check_output(output)
    spelled = canonical(output)
    told = output if isinstance(output, str) else spelled.decode()
    text = clean_for_model(reply.for_model if reply.for_model is not None else told)
    found = (*findings, *text.findings)
    return Cleansed(output=output, spelled=spelled, text=text.text, findings=found, raw=reply.raw)


def _cleaned(output: Any) -> tuple[Any, tuple[Finding, ...]]:
    try:
        return clean_json(output)
    except CallFailed as lost:
        # What went wrong is described there in the output's own keys, which nobody may see.
        raise CallFailed("the output cannot be cleaned without changing its shape", code=lost.code) from None
