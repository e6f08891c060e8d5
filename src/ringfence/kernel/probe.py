"""What this kernel offers a jail, found out by trying each thing in a child that is then gone.

Takes: nothing.  Gives: a finding for each mechanism, and which posture the findings add up to.  Never: concludes from a
version number or a file's presence, or changes the process that asks.
"""

from __future__ import annotations

from dataclasses import dataclass

from ringfence.errors import RingfenceError
from ringfence.kernel import cgroups, landlock
from ringfence.kernel.attempts import attempt
from ringfence.kernel.remedies import remedies_for
from ringfence.kernel.trials import POSTURES, TRIALS, Posture

_COUNTED = "use is counted and bounded for a call's whole tree, and not for each process alone"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One mechanism: `missing` is None where it works, else why it does not."""

    name: str
    missing: str | None
    needed_for: tuple[Posture, ...]
    good_for: str

    @property
    def works(self) -> bool:
        return self.missing is None

    @property
    def remedy(self) -> str:
        """How to get it on any system."""
        return remedies_for(self.name)["any"]


@dataclass(frozen=True, kw_only=True)
class KernelOffer:
    """Everything a jail could be made of, on this machine, for this user."""

    landlock_version: int
    findings: tuple[Finding, ...]

    def missing(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if not finding.works)

    def works(self, name: str) -> bool:
        """Whether a mechanism works; one that was not probed does not."""
        return any(finding.name == name and finding.works for finding in self.findings)

    @property
    def posture(self) -> Posture | None:
        """The strictest posture of which every part works; what a jail enforces is measured again in each."""
        return next(filter(self._whole, POSTURES), None)

    def _whole(self, posture: Posture) -> bool:
        needed = [trial.name for trial in TRIALS if posture in trial.needed_for]
        return all(map(self.works, needed))


def probe() -> KernelOffer:
    """Try everything once; takes some milliseconds."""
    tried = (
        Finding(
            name=trial.name,
            missing=attempt(trial.act, flags=trial.flags),
            needed_for=trial.needed_for,
            good_for=trial.good_for,
        )
        for trial in TRIALS
    )
    return KernelOffer(landlock_version=_landlock_version(), findings=(*tried, *_control_groups()))


def _landlock_version() -> int:
    try:
        return landlock.version()
    except (OSError, RingfenceError):
        return 0


def _control_groups() -> tuple[Finding, ...]:
    try:
        hierarchy = cgroups.find()
    except OSError as failure:
        return tuple(_group(controller, missing=str(failure)) for controller in cgroups.WANTED)
    return tuple(_tried_group(hierarchy, controller=controller) for controller in cgroups.WANTED)


def _tried_group(hierarchy: cgroups.Hierarchy, *, controller: str) -> Finding:
    absent = hierarchy.missing.get(controller)
    if absent is not None:
        return _group(controller, missing=absent.reason)
    return _group(controller, missing=cgroups.attempt(hierarchy, controller=controller))


def _group(controller: str, *, missing: str | None) -> Finding:
    return Finding(name=f"cgroup {controller}", missing=missing, needed_for=(), good_for=_COUNTED)
