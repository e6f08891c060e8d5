"""A runtime for one test: a config dict in a scratch folder, the toolbox, and a scripted jail.

Takes: a folder and what the test changes.  Gives: an open runtime and short ways to vote and to read the trail.
Never: runs tool code.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ringfence import Tool
from ringfence.assembly import open_runtime
from ringfence.execution.sandbox import Fault, RawOutput, Sandbox
from ringfence.runtime import Completed, Outcome, Refused, Runtime, Waiting
from ringfence.testing import DangerouslyScriptedSandbox, Script
from tests.acceptance.spine import toolbox

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

PEOPLE: dict[str, Any] = {
    "alice": {"roles": ["approver"], "groups": ["treasury"]},
    "dan": {"roles": ["approver"], "groups": ["treasury"]},
    "erin": {"roles": ["approver"]},
    "bob": {"roles": ["operator"]},
    "carol": {"roles": ["viewer"]},
}

AGENT: dict[str, Any] = {
    "owner": "carol",
    "allowed_tools": ["*"],
    "network": {"allow": ["api.crm.example"]},
    "files": {"read": ["knowledge"], "write": ["outbox"]},
    "secrets": {"allow": ["CRM_KEY"]},
    "processes": {"allow": ["git"]},
}


def bound(*names: str, **narrowing: Any) -> dict[str, Any]:
    """An agent's bindings, all narrowed alike."""
    pairs = (name.split(":") for name in names)
    return {"bindings": [{"channel": channel, "instance": instance, **narrowing} for channel, instance in pairs]}


def accounts(*names: str, agents: Sequence[str] = ("ana",)) -> dict[str, Any]:
    """Accounts without credentials, open to these agents."""
    found: dict[str, Any] = {}
    for name in names:
        channel, instance = name.split(":")
        found.setdefault(channel, {})[instance] = {"agents": list(agents)}
    return found


def config(folder: Path, *, agent: Mapping[str, Any] | None = None, **sections: Any) -> dict[str, Any]:
    """A whole config with state under the folder; `agent` changes the only agent, sections replace others."""
    whole: dict[str, Any] = {
        "version": 1,
        "people": PEOPLE,
        "agents": {"ana": {**AGENT, **(agent or {})}},
        "store": {"url": f"sqlite:///{folder}/state/ringfence.db"},
        "audit": {"anchor": f"{folder}/state/anchor.log", "signing_key": f"{folder}/state/audit.key"},
        **sections,
    }
    return {name: section for name, section in whole.items() if section is not None}


def rule(decision: str, *, because: str = "a rule says so", **match: Any) -> dict[str, Any]:
    """One rule; `when` is its conditions, everything else is matched."""
    when = match.pop("when", {})
    return {"match": match or {"tool": "*"}, "when": when, "decision": decision, "because": because}


def rules(*lines: dict[str, Any]) -> dict[str, Any]:
    return {"rules": list(lines)}


@dataclass
class Clock:
    """A clock that a test moves by hand."""

    at: datetime = START

    def __call__(self) -> datetime:
        return self.at

    def forward(self, step: timedelta) -> None:
        self.at += step


def _first_word(arguments: dict[str, Any]) -> Any:
    return next((value for value in arguments.values() if isinstance(value, str)), "nothing")


REPLIES: dict[str, Script | RawOutput] = {
    **{each.name: _first_word for each in toolbox.ALL},
    "look_up": lambda said: [{"id": 1, "name": said["name"]}],
    "tell": lambda said: {said["question"]: 1},
    "measure": lambda said: said["value"],
    "note": lambda _: None,
    "order": lambda said: said["count"],
}


def scripted(
    replies: Mapping[str, Script | RawOutput] | None = None, *, without: Sequence[str] = (), **more: Any
) -> DangerouslyScriptedSandbox:
    """The jail as a script; every tool of the toolbox has a fitting reply unless the test gives another or none."""
    known = {**REPLIES, **(replies or {})}
    return DangerouslyScriptedSandbox({name: said for name, said in known.items() if name not in without}, **more)


def reply(value: Any, *, for_model: str | None = None) -> RawOutput:
    """What a jail would send for this output."""
    return RawOutput(reply=json.dumps(value).encode(), for_model=for_model)


def raw(text: bytes) -> RawOutput:
    return RawOutput(reply=text)


def fault(message: str, *, code: str = "tool_error") -> RawOutput:
    return RawOutput(reply=None, fault=Fault(code=code, message=message))


@dataclass
class House:
    """An open runtime with the parts a test wants to look at."""

    runtime: Runtime
    sandbox: DangerouslyScriptedSandbox
    clock: Clock = field(default_factory=Clock)

    def session(self, **who: Any) -> Any:
        return self.runtime.session(**{"agent": "ana", "user": "ulla", **who})

    async def call(self, tool: str, arguments: Mapping[str, Any], **who: Any) -> Outcome:
        """One call in a session of its own."""
        outcome: Outcome = await self.session(**who).call(tool, arguments)
        return outcome

    async def vote(self, waiting: Outcome, voter: str, decision: str = "approve", reason: str | None = None) -> Any:
        assert isinstance(waiting, Waiting), waiting
        return await self.runtime.approvals.vote(
            waiting.approval_id,
            voter=voter,
            decision=decision,  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
            reason=reason,
        )

    async def events(self, *kinds: str) -> list[dict[str, Any]]:
        """The trail so far, oldest first; of some kinds, if any are named."""
        found = [event async for event in self.runtime.audit.export()]
        return [event for event in found if not kinds or event["kind"] in kinds]

    @property
    def ran(self) -> list[str]:
        """The tools that the jail was given, in order."""
        return [job.tool.name for job in self.sandbox.jobs]


@asynccontextmanager
async def open_house(
    settings: Mapping[str, Any],
    *,
    tools: Sequence[Tool] = toolbox.ALL,
    sandbox: DangerouslyScriptedSandbox | None = None,
    clock: Clock | None = None,
) -> AsyncGenerator[House]:
    """A house for as long as the block lasts."""
    jail, time = sandbox or scripted(), clock or Clock()
    async with open_runtime(settings, tools=tools, dangerously_sandbox=jail, now=time) as runtime:
        yield House(runtime=runtime, sandbox=jail, clock=time)


@asynccontextmanager
async def open_with(
    settings: Mapping[str, Any], jail: Sandbox | None, *, tools: Sequence[Tool] = toolbox.ALL
) -> AsyncGenerator[Runtime]:
    """A bare runtime with any sandbox, or with none."""
    async with open_runtime(settings, tools=tools, dangerously_sandbox=jail) as runtime:
        yield runtime


def assert_completed(outcome: Outcome) -> Completed:
    assert isinstance(outcome, Completed), outcome
    return outcome


def assert_refused(outcome: Outcome, code: str) -> Refused:
    assert isinstance(outcome, Refused), outcome
    assert outcome.code == code, outcome
    return outcome


def assert_waiting(outcome: Outcome) -> Waiting:
    assert isinstance(outcome, Waiting), outcome
    return outcome
