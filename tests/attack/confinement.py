"""The same campaign on a machine without namespaces: a filter refuses them, and Landlock is capped.

Takes: a privilege and a Landlock version.  Gives: what became of each probe.  Never: runs two of them at once; each
brings its own deadline.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from tests.attack.canaries import ENVIRONMENT_NAME, public_folder, set_out
from tests.attack.confined_table import NEWEST, tried_confined
from tests.attack.conftest import ORDINARY, SECONDS, Told, _import_path, _open_to_all, _order  # pyright: ignore[reportPrivateUsage]
from tests.attack.row import Privilege
from tests.attack.table import FOLDER, PROBES

SCRIPTS = ("launcher", "campaign")
# Without a user namespace root's jails run as a user of their own, who has to reach the interpreter.
EVERYBODYS_PYTHON = "/usr/bin/python3"
OWNER = 1234


def run_confined(privilege: Privilege, *, version: int) -> tuple[str, Told]:
    """The secret, and what the campaign told; the rows that wait for a deadline run once, at the newest version."""
    assert _open_to_all(Path(EVERYBODYS_PYTHON).parent)
    with public_folder() as folder, set_out(folder) as (secret, canaries):
        (folder / "scripts").mkdir()
        for script in SCRIPTS:
            shutil.copy(FOLDER / f"{script}.py", folder / "scripts")
        tools, state = folder / "tools", folder / "state"
        shutil.copytree(FOLDER / PROBES, tools / PROBES, ignore=shutil.ignore_patterns("__pycache__"))
        state.mkdir(mode=0o700)
        order = {**_order(canaries, privilege), "state": str(state), "tools": str(tools)}
        if privilege == "root":
            # Without a mount that maps owners, root serves files of a user who has a way to them.
            order |= {"workspace": str(folder / "workspace"), "owner": OWNER}
        order["quick"] = [row.probe for row in tried_confined() if row.pace == "quick" for _ in range(row.times)]
        order["long"] = [row.probe for row in tried_confined() if row.pace == "long" and version == NEWEST]
        return secret, _told(folder, order=order, privilege=privilege, version=version, secret=secret)


def _told(folder: Path, *, order: dict[str, Any], privilege: Privilege, version: int, secret: str) -> Told:
    other = ORDINARY if os.geteuid() == 0 and privilege == "user" else None
    if other is not None:
        os.chown(order["state"], other, other)
    scripts = folder / "scripts"
    done = subprocess.run(
        [EVERYBODYS_PYTHON, "-P", str(scripts / "launcher.py"), "--without", "namespaces",
         "--landlock", str(version), str(scripts / "campaign.py")],
        input=json.dumps(order), capture_output=True, text=True, check=False, timeout=SECONDS, cwd=order["state"],
        env={"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(_import_path()), ENVIRONMENT_NAME: secret},
        user=other, group=other, extra_groups=None if other is None else [],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told: Told = json.loads(done.stdout)
    return told
