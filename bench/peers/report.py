"""The comparison for people, for programs and for the threat model's page.

Takes: a matrix and what was found.  Gives: text, JSON, Markdown.  Never: a count without its cells beside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bench.peers.chosen import KINDS, LEFT_OUT, MEANINGS, Kind
from bench.peers.comparison import CONTROL, OURS
from bench.peers.matrix import VERDICTS, Matrix
from bench.peers.peer import Absent, Found

CLOSING = f"""\
- `{CONTROL}` is the positive control: the try works where nothing guards, so that stopping it means something. What
  only root can do is shown by root.
- `works as root` means that the same try was stopped where an ordinary user started the sandbox.
- `cannot run` means that the sandbox or the probe did not start, or gave no answer.
- The launcher of every sandbox, ours too, is careless in the same way: a secret in a variable, three inheritable
  descriptors. A probe that tries several ways works if one of them does.
- What may be of a sandbox's own making (its terminals, its processes inside, an empty folder over the real one, a
  device that gVisor plays itself) does not count in a peer's column; in ours every part counts.
- The attack table was written for Ringfence, which refuses whatever a tool did not declare. A peer that lets a program
  run programs does what it is for, and the notes say so; a count is no grade. Each peer can be set up more strictly by
  hand than its documentation shows, and each does things that Ringfence does not.
"""
OURS_CONFIGURATION = "`session.call` with the shipped defaults"


@dataclass(frozen=True, kw_only=True)
class Report:
    """`machine` and `date` say where and when, since both decide what a sandbox can do."""

    matrix: Matrix
    found: Sequence[Found]
    absent: Sequence[Absent]
    machine: str
    date: str
    version: str

    def text(self) -> str:
        """An aligned table, notes under each kind, the counts, and who is missing."""
        columns = ["", *self.matrix.columns]
        table = [columns, *(line for line in self._cells())]
        widths = [max(len(line[at]) for line in table if len(line) > 1) for at in range(len(columns))]
        lines = [self._aligned(line, widths) for line in table]
        counted = [" | ".join(line) for line in self._counts()]
        missing = [f"{each.name}: not compared: {each.reason}" for each in self.absent]
        working = self.matrix.working_in_ours()
        ours = f"works in {OURS}, each a defect: {', '.join(working)}" if working else f"nothing works in {OURS}"
        return "\n".join([f"{self.date}, {self.machine}", "", *lines, "", *counted, "", *missing, ours]) + "\n"

    def document(self) -> dict[str, Any]:
        matrix = self.matrix
        return {
            "date": self.date,
            "machine": self.machine,
            "versions": {OURS: self.version, **{each.peer.name: each.version for each in self.found}},
            "configurations": {each.peer.name: each.peer.configuration for each in self.found},
            "absent": {each.name: each.reason for each in self.absent},
            "left_out": dict(LEFT_OUT),
            "working_in_ours": matrix.working_in_ours(),
            "without_control": matrix.without_control(),
            "probes": {
                probe.name: {"kind": probe.kind, **{name: matrix.detail(probe, name) for name in matrix.columns}}
                for probe in matrix.probes
            },
        }

    def json(self) -> str:
        return json.dumps(self.document(), ensure_ascii=False, indent=2) + "\n"

    def markdown(self) -> str:
        """The section of the threat model, between its two marks."""
        parts = [
            self._opening(),
            _table(list(self._set_ups())),
            _table(list(self._counts())),
            CLOSING.strip(),
            _left_out(),
        ]
        for kind, probes in self.matrix.by_kind().items():
            head = [f"{kind}: {MEANINGS[kind]}", *self.matrix.columns]
            cells = [
                [probe.words, *(self.matrix.cell(probe, name) for name in self.matrix.columns)] for probe in probes
            ]
            parts.append(_table([head, *cells]))
            parts.append("\n".join(f"- {note}" for note in self._notes(kind)))
        return "\n\n".join(part for part in parts if part) + "\n"

    def _cells(self) -> Iterator[list[str]]:
        for kind, probes in self.matrix.by_kind().items():
            yield [f"{kind}: {MEANINGS[kind]}"]
            for probe in probes:
                yield [f"  {probe.words}", *(self.matrix.cell(probe, name) for name in self.matrix.columns)]
            yield from ([f"  note: {note}"] for note in self._notes(kind))

    def _notes(self, kind: Kind) -> list[str]:
        return [f"{each.peer.name} {each.peer.not_meant[kind]}" for each in self.found if kind in each.peer.not_meant]

    def _counts(self) -> Iterator[list[str]]:
        """How many of each kind work, and of all how many are stopped, work, cannot run."""
        yield ["sandbox", "started by", *(f"{kind} that works" for kind in KINDS), *VERDICTS]
        for column in self.matrix.columns:
            for privilege in self.matrix.told:
                every = self.matrix.count(column, privilege=privilege)
                if not every:
                    continue
                kinds = [self.matrix.count(column, privilege=privilege, kind=kind) for kind in KINDS]
                told = [f"{each['works']} of {each.total()}" for each in kinds]
                yield [column, privilege, *told, *(str(every[verdict]) for verdict in VERDICTS)]

    def _set_ups(self) -> Iterator[list[str]]:
        yield ["sandbox", "version", "set-up", "taken from"]
        yield [OURS, self.version, OURS_CONFIGURATION, "its documentation"]
        for each in self.found:
            yield [each.peer.name, each.version, each.peer.configuration, each.peer.documented]

    def _opening(self) -> str:
        missing = " ".join(f"Not compared: {each.name} ({each.reason})." for each in self.absent)
        return (
            f"Made by `ringfence bench peers` on {self.date}: {len(self.matrix.probes)} of the attack tests' own "
            f"probes, the same function in each sandbox. Machine: {self.machine}. {missing}"
        ).rstrip()

    @staticmethod
    def _aligned(line: Sequence[str], widths: Sequence[int]) -> str:
        if len(line) == 1:
            return line[0]
        return "  ".join(f"{cell:{width}}" for cell, width in zip(line, widths, strict=True)).rstrip()


def _left_out() -> str:
    reasons: dict[str, list[str]] = {}
    for name, reason in LEFT_OUT.items():
        reasons.setdefault(reason, []).append(f"`{name}`")
    return "Attacks left out:\n\n" + "\n".join(f"- {', '.join(names)}: {reason}." for reason, names in reasons.items())


def _table(lines: Sequence[Sequence[str]]) -> str:
    head, *rest = (f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)
    return "\n".join([head, f"|{'---|' * len(lines[0])}", *rest])
