"""`ringfence doctor`: what this machine can enforce, tried one by one, and how to get the rest.

Takes: nothing.  Gives: a finding a mechanism, the posture they add up to, a remedy for each that is missing.
Never: changes the machine, or guesses from a version what was not tried.
"""

from __future__ import annotations

import platform
import sys
from pathlib import Path
from typing import Any

import click

from ringfence.cli.ending import COMPLETED, PROBLEMS, WARNINGS
from ringfence.cli.options import json_option
from ringfence.cli.printing import decided, emit_json, facts, heading, say, table
from ringfence.kernel.closures import closures
from ringfence.kernel.probe import Finding, KernelOffer, probe
from ringfence.kernel.remedies import System, causes_of, remedies_for
from ringfence.kernel.trials import Posture
from ringfence.sandbox.enforceable import HOLDINGS

_CONTAINER_MARKS = ("/.dockerenv", "/run/.containerenv", "/run/systemd/container")
_FAMILIES: dict[str, System] = {"ubuntu": "ubuntu", "debian": "debian", "fedora": "fedora", "rhel": "fedora"}
_ENDS: dict[Posture | None, tuple[int, str, str]] = {
    "full": (COMPLETED, "ok:", "tools can be jailed here, in the posture `full`"),
    "confined": (WARNINGS, "warning:", "tools can be jailed here in the posture `confined` alone: tools that require "
                 "`full`, and a config with `sandbox.posture: full`, are refused"),
    None: (PROBLEMS, "problem:", "tools cannot be jailed here, so none will run"),
}  # fmt: skip


@click.command("doctor")
@json_option
def command(as_json: bool) -> int:
    """Try what this machine's kernel offers a jail. Exit 0 for the full posture, 6 for the confined one, 1 for none."""
    offer = probe() if sys.platform == "linux" else KernelOffer(landlock_version=0, findings=())
    # What a jail really enforces is measured again for every call; this only says whether one can be tried.
    system = this_system()
    if as_json:
        emit_json(_document(offer, system=system))
    else:
        _draw(offer, system=system)
    return _ENDS[offer.posture][0]


def this_system(root: Path = Path("/")) -> System:
    """Whose words fit: only remedies are chosen by it, never a finding."""
    if any((root / mark.lstrip("/")).exists() for mark in _CONTAINER_MARKS):
        return "container"
    release = root / "etc/os-release"
    text = release.read_text(encoding="utf-8", errors="replace") if release.exists() else ""
    lines = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    names = f"{lines.get('ID', '')} {lines.get('ID_LIKE', '')}".replace('"', "").split()
    for name in names:
        if name in _FAMILIES:
            return _FAMILIES[name]
    return "any"


def remedy_here(mechanism: str, *, system: System) -> str:
    told = remedies_for(mechanism)
    return told.get(system, told["any"])


def _document(offer: KernelOffer, *, system: System) -> dict[str, Any]:
    return {
        "posture": offer.posture,
        "platform": f"{platform.system()} {platform.release()} {platform.machine()}",
        "system": system,
        "landlock_version": offer.landlock_version,
        "findings": [_finding(each, system=system) for each in offer.findings],
        "closed_otherwise": [
            {"right": row.right, "since": row.since, "by": row.closed_by} for row in closures(offer.landlock_version)
        ],
        "needs": [
            {"need": row.need, "state": row.state, "why": row.why} for row in HOLDINGS if offer.posture == "confined"
        ],
    }


def _finding(found: Finding, *, system: System) -> dict[str, Any]:
    return {
        "name": found.name,
        "works": found.works,
        "missing": found.missing,
        "needed_for": list(found.needed_for),
        "needed": bool(found.needed_for),
        "good_for": found.good_for,
        "remedy": None if found.works else remedy_here(found.name, system=system),
        "remedies": {} if found.works else dict(remedies_for(found.name)),
    }


def _draw(offer: KernelOffer, *, system: System) -> None:
    table(("mechanism", "here", "needed for", "with it"), [_row(each) for each in offer.findings])
    for each in offer.missing():
        heading(f"{each.name} is missing")
        cause = causes_of(each.name)
        facts(
            [
                ("because", each.missing),
                ("usually", cause.get(system, cause["any"])),
                ("remedy", remedy_here(each.name, system=system)),
            ]
        )
    older = closures(offer.landlock_version)
    if offer.landlock_version and older:
        heading(f"Landlock {offer.landlock_version} lacks rights; without namespaces they are closed so")
        facts([(row.right, row.closed_by) for row in older])
    if offer.posture == "confined":
        heading("what becomes here of each need")
        facts([(f"{row.need} {row.state}", row.why) for row in HOLDINGS])
    heading(platform.system(), platform.release(), platform.machine(), f"Landlock {offer.landlock_version}")
    _, word, text = _ENDS[offer.posture]
    decided(word, text)
    if offer.posture != "full":
        say("  docs/reference/postures.md says what each posture holds")


def _row(finding: Finding) -> tuple[str, ...]:
    here = "works" if finding.works else "missing"
    return finding.name, here, ", ".join(finding.needed_for) or "better", finding.good_for
