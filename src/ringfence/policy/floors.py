"""What the contract of a tool demands of every call, whatever its arguments: the first rows of the truth table.

Takes: an admitted tool and its grant.  Gives: a reason for each floor, its route, its trust and what it reveals.
Never: lowers what another says.
"""

from __future__ import annotations

from collections.abc import Iterator

from ringfence.contract.capabilities import Secrets
from ringfence.contract.safety import CLASS_FLOORS, EGRESS_VOTES
from ringfence.policy.decision import Decision, Reason, decision_for
from ringfence.policy.grant import Grant
from ringfence.registry.pins import Trust
from ringfence.registry.registry import RegisteredTool

_CLASS_FLOORS = {
    safety: Reason(kind="class_floor", decision=decision_for(floor.votes), because=f"class `{safety}`: {floor.reason}")
    for safety, floor in CLASS_FLOORS.items()
}
_EGRESS_FLOORS = {
    egress: Reason(kind="egress_floor", decision=decision_for(votes), because=f"egress `{egress}`")
    for egress, votes in EGRESS_VOTES.items()
}
_ROUTES = {"human": Decision.APPROVE, "dual": Decision.APPROVE_TWICE}


def floors(tool: RegisteredTool, *, grant: Grant) -> Iterator[Reason]:
    """Every reason that the contract alone gives."""
    yield _CLASS_FLOORS[tool.safety]
    yield _EGRESS_FLOORS[tool.egress]
    yield from _route(tool)
    yield from _trust(tool)
    yield from _reveal(grant)


def _route(tool: RegisteredTool) -> Iterator[Reason]:
    route = tool.tool.approval
    if route in _ROUTES:
        yield Reason(kind="route", decision=_ROUTES[route], because=f"the tool asks for the route `{route}`")
    elif route != "auto":
        yield Reason(
            kind="route", decision=Decision.DENY, because=f"the tool asks for `{route}`, which is not installed"
        )


def _trust(tool: RegisteredTool) -> Iterator[Reason]:
    if tool.trust is Trust.UNTRUSTED:
        yield Reason(kind="trust", decision=Decision.DENY, because="the tool failed the gate")
    elif tool.trust is Trust.IMPORTED and tool.tool.consequential:
        yield Reason(
            kind="trust", decision=Decision.APPROVE, because="the tool is imported and nobody has accepted it yet"
        )


def _reveal(grant: Grant) -> Iterator[Reason]:
    if any(isinstance(granted, Secrets) and granted.reveal for granted in grant.capabilities):
        yield Reason(kind="reveal", decision=Decision.APPROVE, because="the value of a secret enters the jail")
