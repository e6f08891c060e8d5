"""Why a call would be allowed, asked about or refused, without making it.

Takes: a request.  Gives: an `Explanation` with every reason.  Never: runs, asks or records anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ringfence.errors import Misuse
from ringfence.policy.decision import Decision, Reason
from ringfence.runtime.parts import Parts
from ringfence.runtime.pipeline import Pipeline
from ringfence.runtime.recording import as_refusal
from ringfence.runtime.request import CallRequest
from ringfence.runtime.spending import hold_to_caps
from ringfence.runtime.standing import answer, require_thawed


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """The decision about one call; `code` is there when a stage before the policy refuses it."""

    decision: Decision
    reasons: tuple[Reason, ...]
    shadow: tuple[Reason, ...]
    grant: tuple[dict[str, Any], ...]
    code: str | None
    message: str | None
    remedy: str | None

    def as_dict(self) -> dict[str, Any]:
        return {
            "decision": self.decision.word,
            "votes_needed": self.decision.votes if self.decision is not Decision.DENY else 0,
            "reasons": [reason.document() for reason in self.reasons],
            "shadow": [reason.document() for reason in self.shadow],
            "grant": list(self.grant),
            "code": self.code,
            "message": self.message,
            "remedy": self.remedy,
        }


async def explained(pipeline: Pipeline, request: CallRequest, *, parts: Parts) -> Explanation:
    try:
        await pipeline.look()
        case = pipeline.explain(request)
        await require_thawed(parts, agent=case.agent.name, tool=case.known_tool.name)
        await answer(parts, case)
        await hold_to_caps(parts, case)
    except Misuse:
        raise
    except Exception as error:  # an error while deciding is a denial, whatever it was
        refusal = as_refusal(error)
        return Explanation(
            decision=Decision.DENY,
            reasons=(),
            shadow=(),
            grant=(),
            code=refusal.code,
            message=refusal.message,
            remedy=refusal.remedy,
        )
    verdict = case.known_verdict
    decisive = verdict.decisive
    return Explanation(
        decision=verdict.decision,
        reasons=verdict.reasons,
        shadow=verdict.shadow,
        grant=tuple(case.grant.document()),
        code=decisive.code if decisive and verdict.decision is Decision.DENY else None,
        message=None,
        remedy=None,
    )
