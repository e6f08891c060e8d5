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

_FULL = "the posture `full`"
PURPOSES: dict[str, tuple[str, str]] = {
    "landlock": ("any jail", "no file outside the grant can be opened"),
    "seccomp": ("any jail", "no system call outside the table can be made"),
    "openat2": ("any jail", "no path trick leaves a granted folder"),
    "user namespace": (_FULL, "the other namespaces can be made without root"),
    "mount namespace": (_FULL, "the rest of the file system is not even there"),
    "pid namespace": (_FULL, "other processes cannot be seen, and the whole tree ends together"),
    "network namespace": (_FULL, "there is no network device at all"),
    "ipc namespace": (_FULL, "no memory is shared with others"),
    "hostname namespace": (_FULL, "the machine's name stays unknown"),
    "mount_setattr": (_FULL, "mounts are read-only all the way down"),
}
_ACCOUNTING = ("limits by control group", "memory, processes and processor time are counted for the whole tree")


@click.command("doctor")
@json_option
def command(as_json: bool) -> int:
    """Try what this machine's kernel offers a jail. Exit 0 where tools can be jailed, else 1."""
    offer = probe() if sys.platform == "linux" else KernelOffer(landlock_version=0, findings=())
    posture = _posture(offer)
    if as_json:
        emit_json(_document(offer, posture=posture))
    else:
        _draw(offer, posture=posture)
    return COMPLETED if posture else PROBLEMS


def _posture(offer: KernelOffer) -> str | None:
    """The best posture that the findings allow; a call's own posture is measured when it runs."""
    working = {name for name in PURPOSES if offer.works(name)}
    if not all(name in working for name, (needed, _) in PURPOSES.items() if needed == "any jail"):
        return None
    return "full" if len(working) == len(PURPOSES) else "confined"


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
                "needed_for": _purpose(each)[0],
                "remedy": None if each.works else each.remedy,
            }
            for each in offer.findings
        ],
    }


def _purpose(finding: Finding) -> tuple[str, str]:
    return PURPOSES.get(finding.name, _ACCOUNTING)


def _draw(offer: KernelOffer, *, posture: str | None) -> None:
    rows = [(each.name, "works" if each.works else "missing", *_purpose(each)) for each in offer.findings]
    table(("mechanism", "here", "needed for", "then"), rows)
    for each in offer.missing():
        heading(f"{each.name} is missing")
        facts([("because", each.missing), ("remedy", each.remedy)])
    heading(platform.system(), platform.release(), platform.machine(), f"Landlock {offer.landlock_version}")
    if posture is None:
        decided("failed", "tools cannot be jailed here, so none will run")
    else:
        decided("completed", f"tools can be jailed here, in the posture `{posture}`")
