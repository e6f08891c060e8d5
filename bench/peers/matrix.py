"""Probes down, sandboxes across: what became of each try, and how many of each kind were stopped.

Takes: the columns of one or two privileges.  Gives: cells and counts.  Never: hides a privilege in which a try works.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.peers.chosen import KINDS, Kind, Probe
from bench.peers.comparison import CONTROL, OURS, Column
from bench.peers.verdict import Judged, Verdict
from tests.attack.row import Privilege

VERDICTS: tuple[Verdict, ...] = ("stopped", "works", "cannot run")


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """`told` is by privilege, then by column, then by probe."""

    probes: Sequence[Probe]
    told: Mapping[Privilege, Mapping[str, Column]]

    @property
    def columns(self) -> list[str]:
        """The control, ours, and then the peers in their own order."""
        return list(dict.fromkeys(name for columns in self.told.values() for name in columns))

    def cell(self, probe: Probe, column: str) -> str:
        """One word if every privilege says the same; otherwise who it works for, or who it is stopped for."""
        verdicts = {who: judged.verdict for who, judged in self._judged(probe, column).items()}
        said = set(verdicts.values())
        if not said:
            return "-"
        if len(said) == 1:
            return said.pop()
        telling: Verdict = "works" if "works" in said else "stopped"
        return f"{telling} as {next(who for who, verdict in verdicts.items() if verdict == telling)}"

    def detail(self, probe: Probe, column: str) -> dict[str, Any]:
        return {
            who: {"verdict": judged.verdict, "detail": judged.detail}
            for who, judged in self._judged(probe, column).items()
        }

    def _judged(self, probe: Probe, column: str) -> dict[Privilege, Judged]:
        return {
            who: columns[column][probe.name]
            for who, columns in self.told.items()
            if column in columns and probe.name in columns[column]
        }

    def count(self, column: str, *, privilege: Privilege, kind: Kind | None = None) -> Counter[Verdict]:
        found = self.told[privilege].get(column, {})
        wanted = [probe.name for probe in self.probes if kind in (None, probe.kind)]
        return Counter(found[name].verdict for name in wanted if name in found)

    def working_in_ours(self) -> list[str]:
        """Each is a defect of ours."""
        return [probe.name for probe in self.probes if self.cell(probe, OURS).startswith("works")]

    def without_control(self) -> list[str]:
        """Tries that were not shown to work without a sandbox, so that stopping them shows nothing."""
        return [probe.name for probe in self.probes if not self.cell(probe, CONTROL).startswith("works")]

    def by_kind(self) -> dict[Kind, list[Probe]]:
        return {kind: [probe for probe in self.probes if probe.kind == kind] for kind in KINDS}
