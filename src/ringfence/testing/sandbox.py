"""A sandbox that reads its replies from a script, so that a test can play every part of a jail.

Takes: replies by tool name.  Gives: them, in order, as raw output.
Never: runs tool code, and is refused outside a test run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ringfence.contract.capabilities import KINDS, Kind
from ringfence.errors import CallRefused
from ringfence.execution.sandbox import Fault, Job, RawOutput
from ringfence.testing.only_tests import require_test_run

Script: TypeAlias = Callable[[dict[str, Any]], Any]


class DangerouslyScriptedSandbox:
    """Answers with what the script says; keeps the jobs that it was given."""

    name = "dangerously_scripted"

    def __init__(
        self, replies: Mapping[str, Script | RawOutput], *, serves: frozenset[Kind] = frozenset(KINDS)
    ) -> None:
        require_test_run(type(self).__name__)
        self.serves = serves
        self.jobs: list[Job] = []
        self._replies = dict(replies)

    def refusal(self, job: Job) -> CallRefused | None:
        if job.tool.name in self._replies:
            return None
        return CallRefused(f"the script has no reply for `{job.tool.name}`", code="sandbox_denied")

    async def run(self, job: Job) -> RawOutput:
        self.jobs.append(job)
        reply = self._replies[job.tool.name if job.purpose == "call" else f"{job.tool.name}.{job.purpose}"]
        if isinstance(reply, RawOutput):
            return reply
        try:
            said = reply(json.loads(job.arguments))
        except Exception as error:  # what a script raises stands for what a tool raises
            return RawOutput(reply=None, fault=Fault(code="tool_error", message=f"{type(error).__name__}: {error}"))
        return RawOutput(reply=json.dumps(said).encode())

    async def close(self) -> None:
        """A script leaves nothing behind."""
