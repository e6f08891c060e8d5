"""`ringfence doctor`: what this machine can enforce, tried one by one, and how to get the rest.

Takes: nothing.  Gives: a finding a mechanism; exit 0 where a jail can be made, else 1.  Never: changes the machine.
"""

from __future__ import annotations

import platform
import sys
from typing import Any

import click

from ringfence.cli.ending import COMPLETED, PROBLEMS
from ringfence.cli.options import json_option
from ringfence.cli.printing import decided, emit_json, facts, heading, table
from ringfence.kernel.probe import Finding, KernelOffer, probe

# What the jail is made of: without any one of these no tool runs.
NEEDED: dict[str, str] = {
    "landlock": "no file outside the grant can be opened",
    "seccomp": "no system call outside the table can be made",
    "openat2": "no path trick leaves a granted folder",
    "user namespace": "a jail can be made without root",
    "mount namespace": "the rest of the file system is not even there",
    "pid namespace": "other processes cannot be seen, and the whole tree ends together",
    "network namespace": "there is no network device at all",
    "ipc namespace": "no memory is shared with others",
    "hostname namespace": "the machine's name stays unknown",
    "mount_setattr": "mounts are read-only all the way down",
}
_COUNTED = "use is counted for the whole tree, and not for each process alone"


@click.command("doctor")
@json_option
def command(as_json: bool) -> int:
    """Try what this machine's kernel offers a jail. Exit 0 where tools can be jailed, else 1."""
    offer = probe() if sys.platform == "linux" else KernelOffer(landlock_version=0, findings=())
    # What a jail really enforces is measured again for every call; this only says whether one can be tried.
    posture = "full" if all(map(offer.works, NEEDED)) else None
    if as_json:
        emit_json(_document(offer, posture=posture))
    else:
        _draw(offer, posture=posture)
    return COMPLETED if posture else PROBLEMS


def _document(offer: KernelOffer, *, posture: str | None) -> dict[str, Any]:
    return {
        "posture": posture,
        "platform": f"{platform.system()} {platform.release()} {platform.machine()}",
        "landlock_version": offer.landlock_version,
        "findings": [
            {
                "name": each.name,
                "works": each.works,
                "missing": each.missing,
                "needed": each.name in NEEDED,
                "remedy": None if each.works else each.remedy,
            }
            for each in offer.findings
        ],
    }


def _draw(offer: KernelOffer, *, posture: str | None) -> None:
    table(("mechanism", "here", "needed", "with it"), [_row(each) for each in offer.findings])
    for each in offer.missing():
        heading(f"{each.name} is missing")
        facts([("because", each.missing), ("remedy", each.remedy)])
    heading(platform.system(), platform.release(), platform.machine(), f"Landlock {offer.landlock_version}")
    if posture is None:
        decided("problem:", "tools cannot be jailed here, so none will run")
    else:
        decided("ok:", f"tools can be jailed here, in the posture `{posture}`")


def _row(finding: Finding) -> tuple[str, ...]:
    here = "works" if finding.works else "missing"
    needed = "yes" if finding.name in NEEDED else "better"
    return finding.name, here, needed, NEEDED.get(finding.name, _COUNTED)
