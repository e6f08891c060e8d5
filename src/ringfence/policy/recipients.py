"""Whether everybody whom a call would reach is on the lists of its agent and its binding.

Takes: a proposal.  Gives: a denial for each marked argument that is not exactly one listed address.
Never: lets an address pass because there is no list; a channel without one has no recipients.
"""

from __future__ import annotations

from collections.abc import Iterator

from ringfence.agents.bindings import Outbound
from ringfence.contract.marked import Found
from ringfence.contract.patterns import glob
from ringfence.policy.addresses import NotAnAddress, one_address
from ringfence.policy.decision import Decision, Reason
from ringfence.policy.proposal import Proposal
from ringfence.sanitise import visible

CODE = "recipient_not_allowed"
_MOST_SHOWN = 100


def unlisted(proposal: Proposal) -> Iterator[Reason]:
    """One reason for each recipient that is not allowed."""
    for found in proposal.tool.shape.recipients.found_in(proposal.call.arguments):
        problem = _problem(found, outbound=proposal.outbound)
        if problem:
            where = visible(found.place[:_MOST_SHOWN])
            yield Reason(kind="recipient", decision=Decision.DENY, because=f"`{where}`: {problem}", code=CODE)


def _problem(found: Found, *, outbound: tuple[Outbound, ...]) -> str | None:
    channel = found.mark
    if not isinstance(channel, str) or not outbound:
        return "no list of recipients applies"
    shown = visible(channel[:_MOST_SHOWN])
    if not all(listed.get(channel) for listed in outbound):
        return f"there is no list of recipients for `{shown}`"
    try:
        address = one_address(found.value, channel=channel)
    except NotAnAddress as reason:
        return f"not exactly one `{shown}` address: {reason}"
    if all(any(glob(pattern)(address) for pattern in listed[channel]) for listed in outbound):
        return None
    return f"the recipient is not listed for `{shown}`"
