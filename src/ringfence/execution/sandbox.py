"""What a sandbox is: it takes a job and gives raw output, and the default one does neither.

Takes: a `Job`.  Gives: `RawOutput`, every byte of which is hostile.
Never: decides whether a call may run; that is settled before a job exists.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from ringfence.agents.accounts import Account
from ringfence.approvals.warrant import Warrant
from ringfence.contract.capabilities import Kind
from ringfence.contract.limits import Limits
from ringfence.contract.safety import Egress
from ringfence.errors import CallRefused, RingfenceError
from ringfence.execution.placing import Placements
from ringfence.policy.grant import Grant
from ringfence.registry.registry import RegisteredTool


@dataclass(frozen=True, kw_only=True)
class Job:
    """What is handed to a sandbox: one call, what it may reach, what it may use, and as whom it acts."""

    kind: Literal["python", "process", "mcp", "http"]
    invocation_id: str
    tool: RegisteredTool
    arguments: bytes
    grant: Grant
    limits: Limits
    agent: str
    session: str
    idempotency_key: str
    account: Account | None = None
    warrant: Warrant | None = None
    placements: Placements | None = None
    purpose: Literal["call", "reconcile"] = "call"

    @property
    def egress(self) -> Egress:
        """Which way bytes may go for this job; whoever only asks how a call ended changes nothing at the far side."""
        changes = self.purpose == "call" or self.tool.egress is Egress.NONE
        return self.tool.egress if changes else Egress.READ_ONLY


@dataclass(frozen=True, kw_only=True)
class Effects:
    """What the host measured that the call did; never what the tool says it did. `earlier` are attempts before it."""

    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_memory_bytes: int = 0
    network: dict[str, Any] | None = None
    files: dict[str, Any] | None = None
    processes: dict[str, Any] | None = None
    storage: dict[str, Any] | None = None
    earlier: tuple[Effects, ...] = ()

    def document(self) -> dict[str, Any]:
        used: dict[str, Any] = {
            "wall_seconds": self.wall_seconds,
            "cpu_seconds": self.cpu_seconds,
            "peak_memory_bytes": self.peak_memory_bytes,
        }
        # Asked one by one: most calls have none of them, and a list or a dict would be made to say so.
        if self.network is not None:
            used["network"] = self.network
        if self.files is not None:
            used["files"] = self.files
        if self.processes is not None:
            used["processes"] = self.processes
        if self.storage is not None:
            used["storage"] = self.storage
        if self.earlier:
            used["earlier"] = [each.document() for each in self.earlier]
        return used


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Why there is no reply: one of the codes, and a text that the tool may have written.

    A remedy is the host's own, where it knows a better one than that of the code.
    """

    code: str
    message: str
    remedy: str | None = None

    @classmethod
    def of(cls, failure: RingfenceError) -> Fault:
        """A failure of the sandbox's own."""
        return cls(code=failure.code, message=failure.message, remedy=failure.remedy)


@dataclass(frozen=True, kw_only=True)
class RawOutput:
    """What came back: a JSON text, or a fault; and what the host saw meanwhile."""

    reply: bytes | None
    for_model: str | None = None
    fault: Fault | None = None
    printed: bytes = b""
    effects: Effects = field(default_factory=Effects)
    evidence: dict[str, Any] = field(default_factory=dict[str, Any])

    def document(self) -> dict[str, Any]:
        """Every word of the tool as it came; a byte that is not UTF-8 is one lone surrogate."""
        return {
            "reply": None if self.reply is None else self.reply.decode(errors="surrogateescape"),
            "for_model": self.for_model,
            "fault": None if self.fault is None else {"code": self.fault.code, "message": self.fault.message},
            "printed": self.printed.decode(errors="surrogateescape"),
        }


class Sandbox(Protocol):
    """Runs one job in isolation. `ringfence.testing` has the suite that every implementation passes."""

    @property
    def name(self) -> str:
        """What the trail calls it."""
        ...

    @property
    def serves(self) -> frozenset[Kind]:
        """The capabilities for which this sandbox has a backend."""
        ...

    def refusal(self, job: Job) -> CallRefused | None:
        """Why this job would not be run here, if it would not; asked before the call is started."""
        ...

    async def run(self, job: Job) -> RawOutput:
        """Run the job; whatever goes wrong inside is a fault in the output, not an exception."""
        ...

    async def close(self) -> None:
        """Leave nothing behind."""
        ...


class DenyAllSandbox:
    """The default: executes nothing."""

    name = "deny_all"
    serves: frozenset[Kind] = frozenset()

    def refusal(self, job: Job) -> CallRefused | None:
        return CallRefused("no sandbox is configured, so nothing runs", code="sandbox_denied")

    async def run(self, job: Job) -> RawOutput:
        raise CallRefused("no sandbox is configured, so nothing runs", code="sandbox_denied")

    async def close(self) -> None:
        """There is nothing to leave behind."""
