"""What a caller is told: four outcomes, each safe to show to a model.

Takes: what the pipeline settled.  Gives: `Completed`, `Waiting`, `Refused`, `Failed`.
Never: carries a raw byte of a tool's output.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from ringfence.contract.fingerprint import canonical
from ringfence.errors import CODES, Audience
from ringfence.policy.decision import Reason
from ringfence.sanitise import Finding, frame, new_boundary


@dataclass(frozen=True, kw_only=True)
class _Told:
    """What every outcome has: a word for it, the call it is about, and one way to become plain data."""

    status: ClassVar[str]
    records: ClassVar[tuple[str, ...]] = ()  # which of its fields are findings or reasons; all others are plain already
    invocation_id: str

    def as_dict(self) -> dict[str, Any]:
        plain: dict[str, Any] = {"status": self.status, **vars(self)}
        for name in self.records:
            plain[name] = [_document(each) for each in plain[name]] if plain[name] else []
        return plain


@dataclass(frozen=True, kw_only=True)
class Completed(_Told):
    """The tool ran; `output` is validated, cleaned, plain JSON data."""

    status: ClassVar[str] = "completed"
    records: ClassVar[tuple[str, ...]] = ("findings",)
    output: Any
    text: str
    findings: tuple[Finding, ...] = ()
    effects: dict[str, Any] = field(default_factory=dict[str, Any])

    def for_model(self) -> str:
        return frame(self.text, boundary=new_boundary())


@dataclass(frozen=True, kw_only=True)
class Waiting(_Told):
    """The call needs votes; any process can resume it once they are given."""

    status: ClassVar[str] = "waiting"
    approval_id: str
    votes_needed: int

    def for_model(self) -> str:
        people = "a person" if self.votes_needed == 1 else f"{self.votes_needed} people"
        return _said(f"this call waits for {people} to approve it; do not repeat it meanwhile", status=self.status)


@dataclass(frozen=True, kw_only=True)
class Refused(_Told):
    """No tool code ran for this call."""

    status: ClassVar[str] = "refused"
    records: ClassVar[tuple[str, ...]] = ("reasons",)
    code: str
    message: str
    remedy: str
    reasons: tuple[Reason, ...] = ()

    def for_model(self) -> str:
        return _said(self.message, self.code, _advice(self.code, self.remedy), status=self.status)


@dataclass(frozen=True, kw_only=True)
class Failed(_Told):
    """The call was started and did not end in a valid reply."""

    status: ClassVar[str] = "failed"
    code: str
    message: str
    remedy: str
    effects: dict[str, Any] = field(default_factory=dict[str, Any])

    def for_model(self) -> str:
        notes = (self.code, _advice(self.code, self.remedy))
        return frame(self.message, boundary=new_boundary(), label=self.status, notes=notes)


Outcome: TypeAlias = Completed | Waiting | Refused | Failed


def model_text(output: Any) -> str:
    """An output as text: a string as it is, anything else as JSON."""
    return output if isinstance(output, str) else canonical(output).decode()


def finding_document(finding: Finding) -> dict[str, Any]:
    return {"kind": finding.kind, "span": list(finding.span), "severity": finding.severity.name.lower()}


def _document(record: Finding | Reason) -> dict[str, Any]:
    return finding_document(record) if isinstance(record, Finding) else record.document()


def _said(*notes: str, status: str) -> str:
    """The runtime's own words: notes on the frame, with nothing untrusted inside it."""
    return frame("", boundary=new_boundary(), label=status, notes=notes)


def _advice(code: str, remedy: str) -> str:
    """A model is told what a model can do; what only a person can do is said to be a person's."""
    return remedy if CODES[code].audience is Audience.MODEL else "only a person can change this; do not retry it"
