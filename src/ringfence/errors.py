"""Every error Ringfence can give, on one page: its code, who reads it, and what they can do about it.

Takes: nothing.  Gives: the `CODES` table and the exception tree.  Never: decides anything.

A code is a promise: codes are added, never renamed. The table is the single source of
`docs/reference/errors.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Audience(StrEnum):
    """Who can act on an error."""

    MODEL = "model"
    OPERATOR = "operator"
    AUTHOR = "author"


@dataclass(frozen=True)
class Code:
    """One row of the table: who reads the error, what happened, what to do."""

    audience: Audience
    meaning: str
    remedy: str


_MODEL, _OPERATOR, _AUTHOR = Audience.MODEL, Audience.OPERATOR, Audience.AUTHOR

CODES: dict[str, Code] = {
    # what the call said
    "input_invalid": Code(_MODEL, "the arguments do not fit the tool's input schema", "correct the named argument and call again"),
    "output_invalid": Code(_AUTHOR, "the tool's output does not fit its output schema; none of it was passed on", "make the tool return what its return type declares"),
    "tool_not_found": Code(_MODEL, "no such tool for this agent", "list the tools and choose one of them"),
    "secret_in_arguments": Code(_MODEL, "an argument contains the value of a secret", "refer to the secret by name in the tool's contract; never pass its value"),
    # who may call
    "binding_required": Code(_OPERATOR, "the agent has bindings and the session names none", "open the session with one of the agent's bindings"),
    "policy_denied": Code(_OPERATOR, "the policy denies this call", "`ringfence explain` lists every reason; change the rule that denies, or do not make the call"),
    "rate_limited": Code(_MODEL, "the agent made too many calls of this tool", "wait for the time given, then call again"),
    "spend_cap_reached": Code(_OPERATOR, "the agent has spent what it may in this time", "wait until older spending is out of the time, or raise the cap under `spend_caps`; `ringfence status` shows what is left"),
    "recipient_not_allowed": Code(_OPERATOR, "the recipient is not on the agent's outbound allowlist", "list the recipient under `outbound_allowlist` for its channel"),
    "frozen": Code(_OPERATOR, "calls are frozen by an operator", "`ringfence unfreeze` when the incident is over"),
    # who must approve
    "approval_rejected": Code(_MODEL, "a person rejected this call", "do not retry it; tell the user the reason given"),
    "approval_expired": Code(_MODEL, "nobody approved the call in time, and silence is refusal", "make the call again if it is still wanted"),
    "approval_void": Code(_MODEL, "the approval no longer matches the call, its tool or the policy", "make the call again; it will be decided anew"),
    "no_approvers": Code(_OPERATOR, "the call needs a vote and nobody could give it", "add people with the role `approver` who neither own the agent nor propose the call"),
    # what the tool is
    "definition_changed": Code(_OPERATOR, "the tool's contract differs from the pinned one", "review the difference, then accept it"),
    "name_collision": Code(_OPERATOR, "two tool names look the same to a reader or a model", "rename one of the tools"),
    "schema_refused": Code(_AUTHOR, "the declaration says too little to be enforced", "annotate and describe what the message names"),
    # what the tool may reach
    "host_not_allowed": Code(_OPERATOR, "the host is not on the allowlist", "list the host in the tool's `Network` need and in the agent's `network.allow`"),
    "secret_misplaced": Code(_AUTHOR, "a secret's placeholder was sent where its contract does not place it", "send it in the header that `at` names, to a host that `hosts` names, over HTTPS"),
    "answer_not_searchable": Code(_AUTHOR, "an answer could not be searched for the secrets of its call", "have the far side answer uncompressed, as it was asked to, or with gzip or deflate"),
    "secret_not_declared": Code(_AUTHOR, "the tool asked for a secret that it did not declare", "declare it with `Secrets(...)` in the tool's needs"),
    "path_not_reachable": Code(_OPERATOR, "the path lies outside what was granted", "grant it in the tool's `Files` need and in the agent's `files`"),
    "binary_not_allowed": Code(_OPERATOR, "the binary is not on the list", "list it in the tool's `Processes` need and in the agent's `processes.allow`"),
    "storage_quota": Code(_MODEL, "the tool's storage is full", "delete rows that are no longer needed"),
    "not_available": Code(_OPERATOR, "the tool needs something that this agent or this machine does not provide", "`ringfence status` names what is missing"),
    # what the jail enforces
    "sandbox_denied": Code(_OPERATOR, "no sandbox is configured, so nothing runs", "set `sandbox: {kind: local}` in the config file"),
    "posture_insufficient": Code(_OPERATOR, "this machine cannot enforce what the tool requires", "`ringfence doctor` says what is missing and how to get it"),
    "not_enforceable": Code(_OPERATOR, "a declared limit cannot be enforced on this machine", "`ringfence doctor` says what is missing and how to get it"),
    "egress_not_enforceable": Code(_AUTHOR, "read-only egress cannot be held over a protocol that the edge cannot read", "use HTTP for read-only egress, or declare egress `write`"),
    "cpu_limit": Code(_AUTHOR, "the tool used up its CPU time", "raise `limits.cpu_seconds` or do less work"),
    "memory_limit": Code(_AUTHOR, "the tool used up its memory", "raise `limits.memory_mb` or use less memory"),
    "pids_limit": Code(_AUTHOR, "the tool started too many processes or threads", "raise `limits.pids` or start fewer"),
    "disk_limit": Code(_AUTHOR, "the tool used up its scratch space", "raise `limits.disk_mb` or write less"),
    "wall_limit": Code(_AUTHOR, "the tool did not finish in time", "raise `limits.wall_seconds` or do less work"),
    "output_limit": Code(_AUTHOR, "the tool's output is larger than allowed", "raise `limits.output_kb` or return less"),
    "protocol_error": Code(_AUTHOR, "the jail's reply was not one well-formed message", "return from the tool once, and do not write to descriptors it was not given"),
    "tool_error": Code(_AUTHOR, "the tool raised an exception", "the call's audit record has the details"),
    "cancelled": Code(_MODEL, "the call was cancelled", "make the call again if it is still wanted"),
    "queue_full": Code(_MODEL, "too many calls are waiting", "call again later"),
    # what must not happen twice, or unseen
    "idempotency_conflict": Code(_MODEL, "this idempotency key was used with other arguments", "use a new key for a new call"),
    "in_flight": Code(_MODEL, "a call with this idempotency key is still running", "wait for it; do not start it again"),
    "in_doubt": Code(_OPERATOR, "the call may or may not have taken effect", "check the far side, then settle the call"),
    "trail_unavailable": Code(_OPERATOR, "the audit trail cannot be written, so nothing runs", "make the store writable again"),
    # what the operator wrote, and what the embedder called
    "config_invalid": Code(_OPERATOR, "the configuration is not valid", "correct the lines named; nothing was loaded"),
    "vote_refused": Code(_OPERATOR, "this person cannot vote on this call, or it takes no more votes", "`ringfence approvals list` shows who may vote on what"),
    "operator_required": Code(_OPERATOR, "only an operator may do this", "name somebody who has the role `operator` under `people`"),
    "audit_broken": Code(_OPERATOR, "the audit trail was altered", "keep the store and its anchor as evidence, and find who could write to them"),
    "misuse": Code(_AUTHOR, "the runtime was called in a way it does not support", "see the message; this is an error in the calling program"),
}  # fmt: skip


class RingfenceError(Exception):
    """The root: whatever went wrong has a stable code, a message and a remedy."""

    code = "misuse"

    def __init__(self, message: str, *, code: str | None = None, remedy: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or type(self).code
        self.remedy = remedy or CODES[self.code].remedy

    @property
    def audience(self) -> Audience:
        return CODES[self.code].audience


class DeclarationRefused(RingfenceError):
    """A tool says too little, or contradicts itself; raised where it is declared."""

    code = "schema_refused"


class NameCollision(RingfenceError):
    """Two names in one registry would be read as the same."""

    code = "name_collision"


class ConfigInvalid(RingfenceError):
    """The configuration cannot be loaded; every problem found is listed, nothing was applied."""

    code = "config_invalid"

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class CallRefused(RingfenceError):
    """A stage will not let this call go on; no tool code ran for it."""

    code = "policy_denied"


class CallFailed(RingfenceError):
    """The call was started and did not end in a valid reply."""

    code = "tool_error"


class TrailUnavailable(RingfenceError):
    """The audit trail or the store cannot be written."""

    code = "trail_unavailable"


class VoteRefused(RingfenceError):
    """A vote that the rules do not admit."""

    code = "vote_refused"


class OperatorRequired(RingfenceError):
    """Somebody without the role `operator` tried to loosen, stop or restart something."""

    code = "operator_required"


class PathNotReachable(RingfenceError):
    """A path that does not lie beneath the root it was asked of."""

    code = "path_not_reachable"


class Misuse(RingfenceError):
    """The calling program asked for something that makes no sense; never caused by a model."""

    code = "misuse"
