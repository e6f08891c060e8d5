"""How dangerous a tool is and which way its bytes go: two classes, two tables.

Takes: what the author declared.  Gives: the classes, their floors and the derived egress.
Never: looks at a call.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ringfence.errors import DeclarationRefused


class Safety(StrEnum):
    """What a tool can do to the world."""

    READ = "read"
    WRITE = "write"
    NETWORK = "network"
    FINANCIAL = "financial"
    PRIVILEGED = "privileged"


class Egress(StrEnum):
    """Which way bytes can leave the machine."""

    NONE = "none"
    READ_ONLY = "read_only"
    WRITE = "write"


@dataclass(frozen=True, kw_only=True)
class Floor:
    """The least that a class demands, whatever the policy says."""

    votes: int
    idempotency: str
    hosts: str
    reason: str


CLASS_FLOORS: dict[Safety, Floor] = {
    Safety.READ: Floor(votes=0, idempotency="any", hosts="any", reason="changes nothing, so it is freely callable"),
    Safety.WRITE: Floor(votes=0, idempotency="any", hosts="any", reason="changes things inside, so it is logged and policy-checked"),
    Safety.NETWORK: Floor(votes=0, idempotency="any", hosts="required", reason="leaves the machine, so the hosts must be listed"),
    Safety.FINANCIAL: Floor(votes=1, idempotency="required", hosts="any", reason="moves money, so a person approves and it must not happen twice"),
    Safety.PRIVILEGED: Floor(votes=2, idempotency="any", hosts="any", reason="can change who may do what, so two people approve"),
}  # fmt: skip

EGRESS_VOTES: dict[Egress, int] = {
    Egress.NONE: 0,  # nothing can leave
    Egress.READ_ONLY: 0,  # only questions leave, to listed hosts
    Egress.WRITE: 1,  # the far side changes, so an approval must be on record
}


def derive_egress(safety: Safety, *, network: str, declared: Egress | None) -> Egress:
    """The egress class of a tool; `network` is `declared` or `absent`. A contradiction is refused."""
    derived = _derived(safety, network=network)
    if declared is None:
        return derived
    contradiction = _contradiction(safety, network=network, declared=declared)
    if contradiction:
        raise DeclarationRefused(contradiction, remedy="make `egress` agree with `safety` and `needs`, or leave it out")
    return declared


def _derived(safety: Safety, *, network: str) -> Egress:
    if network == "absent":
        return Egress.NONE
    return Egress.READ_ONLY if safety is Safety.READ else Egress.WRITE


def _contradiction(safety: Safety, *, network: str, declared: Egress) -> str | None:
    if network == "declared" and declared is Egress.NONE:
        return "egress `none` contradicts the `Network` need"
    if network == "absent" and declared is not Egress.NONE:
        return f"egress `{declared}` needs a `Network` need that lists the hosts"
    if safety is Safety.READ and declared is Egress.WRITE:
        return "safety `read` contradicts egress `write`"
    return None


def is_consequential(safety: Safety, egress: Egress) -> bool:
    """Whether a call can change anything: every class but read, or bytes that change the far side."""
    return safety is not Safety.READ or egress is Egress.WRITE
