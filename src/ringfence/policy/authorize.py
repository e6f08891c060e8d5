"""The truth table: everything that can be said about a call, on one page.

Takes: a `Proposal`, the rules and the profiles.  Gives: a `Verdict` that lists every reason.
Never: stops at the first finding, and never lets an error while deciding be anything but a denial.

| finding      | gives                                                | because                                        |
|--------------|------------------------------------------------------|------------------------------------------------|
| class floor  | the class's votes                                    | CON-4: the class alone demands it              |
| egress floor | APPROVE for egress `write`                           | CON-5: the far side changes                    |
| route        | APPROVE for `human`, APPROVE_TWICE for `dual`        | CON-8: a route raises a floor, never lowers it |
|              | DENY for a pack that is not installed                | absence refuses                                |
| trust        | APPROVE for an imported tool of any class but read   | REG-1: nobody has accepted it yet              |
|              | DENY for an untrusted tool                           | REG-1: it failed the gate                      |
| reveal       | APPROVE where a secret's value enters the jail       | SEC-2                                          |
| recipient    | DENY for a marked argument that is not one address   | POL-5: two addresses in one are two recipients |
|              | DENY for an address on no list, or with no list      | POL-5: absence refuses                         |
| profile      | DENY for what it denies, whatever it allows          | POL-3: deny wins                               |
|              | DENY for what is not in its `allow`, if it has one   | POL-3: an allowlist is strict                  |
|              | APPROVE for what is in its `requires_approval`       | POL-3: the operator wrote it                   |
|              | DENY for a profile that does not exist               | absence refuses                                |
| spend cap    | DENY for an amount that no cap can count             | POL-2: negative, missing, of another unit      |
|              | DENY for more than the cap in one call               | POL-2: it could never start                    |
| rules        | whatever each rule that holds decides                | POL-2: the operator wrote it                   |
| an error     | DENY                                                 | law 2                                          |
"""

from __future__ import annotations

from collections.abc import Iterator

from ringfence.policy.decision import Decision, Reason, Verdict, strictest
from ringfence.policy.profiles import NO_PROFILES, Profiles
from ringfence.policy.proposal import Proposal
from ringfence.policy.recipients import unlisted
from ringfence.policy.rules import RuleBook
from ringfence.policy.spending import beyond


def authorize(proposal: Proposal, *, rules: RuleBook, profiles: Profiles = NO_PROFILES) -> Verdict:
    """Every reason that applies to this call; the strictest decides."""
    try:
        terms = proposal.terms
        counted, watched = rules.findings(terms.subject, proposal.call.arguments)
        if not (counted or watched or terms.is_narrowed):
            return terms.unruled
        narrowed = _narrowed(proposal, profiles) if terms.is_narrowed else ()
        return strictest((*terms.floors, *narrowed, *counted), shadow=watched)
    except Exception as error:  # an error while deciding is a denial, whatever it was
        return strictest(
            [Reason(kind="error", decision=Decision.DENY, because=f"deciding failed: {type(error).__name__}")]
        )


def _narrowed(proposal: Proposal, profiles: Profiles) -> Iterator[Reason]:
    yield from unlisted(proposal)
    yield from profiles.reasons(proposal.agent.profile, proposal.tool.name)
    yield from beyond(proposal)
