"""`ringfence tour`: everything once, in a scratch project that is removed again.

Takes: nothing.  Gives: a page to read; exit 0 where every station went as it must.  Never: leaves a file behind.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import click

from ringfence.assembly import load_config, open_runtime
from ringfence.cli.audit_bundle import show_report
from ringfence.cli.ending import COMPLETED, PROBLEMS
from ringfence.cli.explain import show_explanation
from ringfence.cli.opening import quieten_logs, records_only
from ringfence.cli.options import login_name
from ringfence.cli.outcomes import show_outcome
from ringfence.cli.printing import heading, say, table
from ringfence.cli.project import CONFIG, Project, make_project, template, write_new
from ringfence.cli.status import show_status
from ringfence.runtime import Completed, Refused, Runtime, Session, Waiting

_WRITTEN_BY_A_MODEL = """
import socket, statistics

print("the median is", statistics.median([3, 1, 2]))
try:
    socket.create_connection(("192.0.2.1", 443), timeout=1)
    came = "reached the internet"
except OSError as refused:
    came = f"no way out: {refused.strerror}"
came
"""
_LARGE_REFUND = {"order": "A-1001", "amount_cents": 60_000}


@click.command("tour")
def command() -> int:
    """Show everything once, in a scratch folder that is removed again."""
    quieten_logs()
    with tempfile.TemporaryDirectory(prefix="ringfence-tour-") as scratch:
        return asyncio.run(_tour(Path(scratch)))


async def _tour(scratch: Path) -> int:
    project = _scratch_project(scratch / "shop")
    say("Ringfence stands between AI agents and their tools. This is a scratch project, made by `ringfence init`.")
    config = load_config(project.folder / CONFIG)
    async with open_runtime(config, accept_as="bob") as runtime:
        visit = Visit(runtime, project=project)
        went = [await station() for station in visit.stations]
    async with open_runtime(records_only(config)) as runtime:
        went.append(await _trail(runtime, key=project.fingerprint))
    heading("What comes next")
    say("  ringfence init my-project      the same project, to keep")
    say("  ringfence doctor               what this machine can enforce, and how to get the rest")
    say("  ringfence --help               everything else")
    return COMPLETED if all(went) else PROBLEMS


def _scratch_project(folder: Path) -> Project:
    """The project of `init`, and beside its tools one that lies."""
    project = make_project(folder)
    write_new(folder / "hostile.py", template("hostile.py"))
    config = folder / CONFIG
    config.write_text(config.read_text().replace("modules: [tools]", "modules: [tools, hostile, ringfence.tools]"))
    return project


async def _trail(runtime: Runtime, *, key: str) -> bool:
    heading("8. All of it is on record, chained and signed (ringfence audit verify)")
    report = await runtime.audit.verify(key=key)
    show_report(report, key=key)
    return report.ok and report.checkpoints > 0


class Visit:
    """The stations of one tour; each says whether it went as it must."""

    def __init__(self, runtime: Runtime, *, project: Project) -> None:
        self._runtime = runtime
        self._project = project

    @property
    def stations(self) -> tuple[Callable[[], Awaitable[bool]], ...]:
        return (self.views, self.decision, self.hidden, self.jailed, self.hostile, self.written, self.approval)

    async def views(self) -> bool:
        heading("1. Each agent sees its own tools; the rest does not exist for it (ringfence status)")
        found = [await self._runtime.status(agent) for agent in self._runtime.agents]
        for status in found:
            show_status(status)
        return all(status.tools for status in found)

    async def decision(self) -> bool:
        heading("2. Every decision has its reasons, and the strictest wins (ringfence explain)")
        explanation = await self._runtime.explain("ana", "refund", _LARGE_REFUND)
        show_explanation(explanation, subject="ana refunding 600.00")
        return explanation.decision.votes == 2

    async def hidden(self) -> bool:
        heading("3. A tool that ana cannot see answers like one that never was (ringfence call)")
        session = self._session("ana")
        hidden = await session.call("change_role", {"person": "ana", "role": "lead"})
        invented = await session.call("no_such_tool", {})
        show_outcome(hidden, as_json=False)
        if not isinstance(hidden, Refused) or not isinstance(invented, Refused):
            return False
        return (hidden.code, hidden.message) == (invented.code, invented.message)

    async def jailed(self) -> bool:
        heading("4. What is allowed runs in a jail of its own")
        outcome = await self._session("ana").call("word_count", {"text": "declared is enforced"})
        show_outcome(outcome, as_json=False)
        return isinstance(outcome, Completed)

    async def hostile(self) -> bool:
        heading("5. A tool that declares nothing reaches nothing, whatever it tries")
        outcome = await self._session("ops").call("horoscope", {"folder": str(self._project.folder)})
        if not isinstance(outcome, Completed):
            show_outcome(outcome, as_json=False)
            return not isinstance(outcome, Refused)
        table(("it tried to", "and was"), [(each["tried"], each["got"]) for each in outcome.output])
        return all(each["got"].startswith("refused") for each in outcome.output)

    async def written(self) -> bool:
        heading("6. Code that a model wrote runs as well, for there it reaches nothing either (run_python)")
        session = self._session("ops")
        outcome = await session.call("run_python", {"code": _WRITTEN_BY_A_MODEL})
        if not isinstance(outcome, Completed):
            show_outcome(outcome, as_json=False)
            return False
        say("  " + str(outcome.output["stdout"]).strip().replace("\n", "\n  "))
        say(f"  its last line: {outcome.output['value']}")
        return outcome.output["error"] is None and "reached" not in outcome.output["value"]

    async def approval(self) -> bool:
        heading("7. Money waits for people: the call is kept, two approvers vote, then it runs once")
        session = self._session("ana")
        asked = await session.call("refund", _LARGE_REFUND)
        show_outcome(asked, as_json=False)
        if not isinstance(asked, Waiting):
            return False
        for voter in ("alice", "dan"):
            voted = await self._runtime.approvals.vote(asked.approval_id, voter=voter, decision="approve", door="cli")
            say(f"  {voter} approves: {len(voted.votes)} of {voted.votes_needed} votes, {voted.status.value}")
        done = await session.resume(asked.invocation_id)
        show_outcome(done, as_json=False)
        return isinstance(done, Completed)

    def _session(self, agent: str) -> Session:
        return self._runtime.session(agent=agent, typed_by=login_name())
