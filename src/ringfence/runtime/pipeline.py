"""The pipeline: every call takes this way, one line per stage, in order.

Takes: a request.  Gives: an `Outcome`.
Never: skips a stage, runs a tool without a warrant and its trail, or lets an error be anything but a refusal.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from ringfence.approvals.warrant import Warrant
from ringfence.errors import CallFailed, CallRefused
from ringfence.execution.execute import Reply, Unanswered, execute, guard
from ringfence.execution.placing import placements_for
from ringfence.execution.sandbox import Job
from ringfence.policy.authorize import authorize
from ringfence.policy.decision import Decision, Verdict
from ringfence.runtime.approving import warrant_or_wait
from ringfence.runtime.case import Case, new_id
from ringfence.runtime.cleaning import Cleansed, cleanse
from ringfence.runtime.invocation import Recorded
from ringfence.runtime.once import told_again
from ringfence.runtime.outcome import Outcome, Waiting
from ringfence.runtime.parts import Parts
from ringfence.runtime.reconciling import Question, reconcile
from ringfence.runtime.recording import as_refusal, record_completed, record_failed, record_refused, record_start
from ringfence.runtime.request import CallRequest
from ringfence.runtime.withholding import require_no_secret

# Of the worst text a thread cleans some 400 bytes in a millisecond, and meanwhile everybody else would wait.
_CLEANED_AT_ONCE = 16_384


class Pipeline:
    """Runs calls; all it knows, it was given."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def call(self, request: CallRequest, *, resumed: Recorded | None = None) -> Outcome:
        """One request from beginning to end; `resumed` is the recorded call that waited for its votes."""
        case = self._open(request, resumed)
        try:
            self._withhold(case)  #                        WITHHOLD   no value of a secret comes from a model
            await self.look()  #                           REGISTER   as every process left it
            self._view(case)  #                            VIEW       the tool, if this agent can see it
            self._parse(case)  #                           DECLARE    arguments that fit its contract
            if (known := await self._once(case)) is not None:
                return known  #                            KEY        what happened under it is told again
            self._grant(case)  #                           RESOLVE    declared ∩ permitted
            self._authorize(case)  #                       AUTHORIZE  every reason; the strictest wins
            warrant = await self._approve(case)  #         APPROVE    no vote is needed, or it was given
            if isinstance(warrant, Waiting):
                return warrant
            job = await self._guard(case, warrant)  #      GUARD      nothing runs without what it declared
            await self._start(case, warrant)  #            START      on the record before anything runs
        except Exception as error:  # whatever goes wrong before a call runs is a refusal
            return await record_refused(self._parts, case, as_refusal(error))
        try:
            reply = await self._execute(job, warrant)  #   EXECUTE    in a jail, its reply unbelieved
            clean = await self._sanitise(case, reply)  #   SANITISE   validated, cleaned, validated again
        except BaseException as failure:
            return await record_failed(self._parts, case, failure)
        return await record_completed(self._parts, case, clean)  # RECORD, or the output is withheld

    async def look(self) -> None:
        """See what other processes made of the tools; what is out of use for one is out of use for all."""
        await self._parts.board.refresh()

    def explain(self, request: CallRequest) -> Case:
        """The same decision, with nothing run, asked or recorded."""
        case = self._open(request, None)
        self._withhold(case)
        self._view(case)
        self._parse(case)
        self._grant(case)
        case.verdict = self._verdict(case)
        return case

    def _open(self, request: CallRequest, resumed: Recorded | None) -> Case:
        agent = self._parts.agent(request.identity.agent)
        case = Case(id=new_id("inv"), at=self._parts.now(), request=request, agent=agent)
        if resumed is not None:
            case.adopt(resumed)
        return case

    def _withhold(self, case: Case) -> None:
        require_no_secret(case, scrubber=self._parts.strongbox.scrubber)

    def _view(self, case: Case) -> None:
        identity = case.request.identity
        sight = self._parts.sight(identity.agent, identity.binding)
        case.acting = sight.acting
        case.seen(sight.terms(case.request.tool))

    def _parse(self, case: Case) -> None:
        case.parsed(case.known_tool.shape.parse(case.request.arguments))

    async def _once(self, case: Case) -> Outcome | None:
        return await told_again(self._parts, case, reconcile=self._reconcile)

    async def _reconcile(self, case: Case, doubted: Recorded) -> Recorded:
        """The tool is asked how its own call ended, where this agent could make that call now."""
        self._grant(case)
        self._authorize(case)
        question = Question(
            doubted=doubted, tool=case.known_tool, acting=case.known_acting, asked_by="a call under the same key"
        )
        return await reconcile(self._parts, question)

    def _grant(self, case: Case) -> None:
        case.grant = case.known_terms.grant

    def _verdict(self, case: Case) -> Verdict:
        rulings = self._parts.rulings
        return authorize(case.proposal(), rules=rulings.rules, profiles=rulings.profiles)

    def _authorize(self, case: Case) -> None:
        case.verdict = self._verdict(case)
        if case.verdict.decision is Decision.DENY:
            decisive = case.verdict.decisive
            because = decisive.because if decisive else "nothing speaks for it"
            raise CallRefused(because, code=decisive.code if decisive else "policy_denied")

    async def _approve(self, case: Case) -> Warrant | Waiting:
        return await warrant_or_wait(self._parts, case)

    async def _guard(self, case: Case, warrant: Warrant) -> Job:
        job = case.job(warrant)
        guard(job, sandbox=self._parts.sandbox)
        case.placements = await placements_for(case.grant, strongbox=self._parts.strongbox, account=job.account)
        return job if case.placements is None else replace(job, placements=case.placements)

    async def _start(self, case: Case, warrant: Warrant) -> None:
        await record_start(self._parts, case, warrant)

    async def _execute(self, job: Job, warrant: Warrant) -> Reply:
        work = execute(job, warrant=warrant, sandbox=self._parts.sandbox)
        return await self._parts.running.run(work, agent=job.agent, tool=job.tool.name, started_at=self._parts.now())

    async def _sanitise(self, case: Case, reply: Reply) -> Cleansed:
        shape = case.known_tool.shape
        try:
            if len(reply.raw.reply or b"") + len(reply.for_model or "") <= _CLEANED_AT_ONCE:
                return cleanse(reply, shape=shape)
            return await asyncio.to_thread(cleanse, reply, shape=shape)
        except CallFailed as withheld:
            # The model sees nothing of it; the trail keeps what was withheld.
            raise Unanswered(withheld.message, code=withheld.code, raw=reply.raw) from None
