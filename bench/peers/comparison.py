"""The whole comparison: canaries are set out, and every probe is tried without a sandbox, in ours and in every peer.

Takes: probes, peers, a privilege.  Gives: {column: {probe: Judged}}.  Never: an easier launcher for ours: each has the
same variable, the same open descriptors and the same canaries.
"""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.peers.chosen import Probe
from bench.peers.ground import ROOT, packages, python_for_all
from bench.peers.verdict import Judged, judge_attempt, judge_ours
from tests.attack.canaries import ENVIRONMENT_NAME, public_folder, set_out
from tests.attack.row import PRIVILEGES, Privilege

CONTROL, OURS = "no sandbox", "Ringfence"
NOBODY = 65_534
PEOPLE = range(1_000, 60_000)
_ATTACK = ROOT / "tests" / "attack"
_INSIDE = ROOT / "bench" / "peers" / "inside.py"

Column = Mapping[str, Judged]


def possible() -> tuple[Privilege, ...]:
    """Root becomes anybody; an ordinary user compares as itself alone."""
    return PRIVILEGES if os.geteuid() == 0 else ("user",)


def ordinary() -> int:
    """The first person of this machine, or else nobody; firejail refuses users that cannot log in."""
    return min((user.pw_uid for user in pwd.getpwall() if user.pw_uid in PEOPLE), default=NOBODY)


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where one script works: its own folder, its own copy of the probes, and who it runs as."""

    state: Path
    tools: Path
    privilege: Privilege


def compare(probes: Sequence[Probe], *, peers: Iterable[str], privilege: Privilege) -> dict[str, Column]:
    """Every column for one privilege; ours and the control come from the attack tests' own scripts."""
    with ExitStack() as stack:
        folder, shown = stack.enter_context(public_folder()), stack.enter_context(public_folder())
        secret, canaries = stack.enter_context(set_out(folder))

        def told(words: Sequence[str], name: str, more: Mapping[str, Any]) -> dict[str, Any]:
            place = _place(folder, shown, name=name, privilege=privilege)
            order = {"canaries": dict(canaries), "state": str(place.state), "tools": str(place.tools), **more}
            order["ground"] = {"python": python_for_all(), "packages": list(packages()),
                               "tools": str(place.tools), "state": str(place.state)}  # fmt: skip
            return _run(words, order, place=place, secret=secret)

        control = told(["-P", str(_ATTACK / "controls.py")], "control", _for_controls(probes, privilege))["rows"]
        ours = told(["-P", str(_ATTACK / "campaign.py")], "ours", _for_ours(probes))["rows"]
        order = {"peers": list(peers), "probes": [[probe.row.module, probe.name] for probe in probes]}
        theirs = told(["-P", "-m", "bench.peers.launcher"], "peers", order)
    return {
        CONTROL: {name: judge_attempt(row) for name, row in control.items()},
        OURS: {p.name: judge_ours(ours[p.name], expected=p.row.expected[privilege]) for p in probes},
        **{name: {probe: Judged(**row) for probe, row in rows.items()} for name, rows in theirs.items()},
    }


def _for_ours(probes: Sequence[Probe]) -> dict[str, Any]:
    return {
        "modules": sorted({f"probes.{probe.row.module}" for probe in probes}),
        "quick": [probe.name for probe in probes if probe.row.pace == "quick"],
        "long": [probe.name for probe in probes if probe.row.pace == "long"],
    }


def _for_controls(probes: Sequence[Probe], privilege: Privilege) -> dict[str, Any]:
    """What only root can show is left to root's run."""
    controls = [[probe.row.module, probe.name, probe.row.control[privilege]] for probe in probes]
    return {"controls": [control for control in controls if control[2] != "probe by root"]}


def _place(folder: Path, shown: Path, *, name: str, privilege: Privilege) -> Place:
    """State lies beside the canaries, the probes in a folder that sandboxes are shown, where no canary is."""
    state, tools = folder / name, shown / name
    state.mkdir(mode=0o700)
    tools.mkdir(mode=0o755)
    shutil.copytree(_ATTACK / "probes", tools / "probes", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(_INSIDE, tools)
    if os.geteuid() == 0 and privilege == "user":
        os.chown(state, ordinary(), ordinary())
    return Place(state=state, tools=tools, privilege=privilege)


def _run(words: Sequence[str], order: Mapping[str, Any], *, place: Place, secret: str) -> dict[str, Any]:
    other = ordinary() if os.geteuid() == 0 and place.privilege == "user" else None
    done = subprocess.run(
        [sys.executable if other is None else python_for_all(), *words],
        input=json.dumps(order),
        stdout=subprocess.PIPE,
        text=True,
        cwd=place.state,
        env={
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin",
            "HOME": str(place.state),
            "XDG_RUNTIME_DIR": str(place.state),
            "PYTHONPATH": os.pathsep.join((*packages(), str(ROOT))),
            ENVIRONMENT_NAME: secret,
        },
        user=other,
        group=other,
        extra_groups=None if other is None else [],
        check=True,
    )
    told: dict[str, Any] = json.loads(done.stdout)
    return told
