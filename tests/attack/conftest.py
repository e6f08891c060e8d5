"""The campaigns: every row of the table, in the jail and without it, once as root and once as an ordinary user.

Takes: the table.  Gives: `campaigns`, what became of each probe.  Never: runs a campaign twice in one test
run, however many workers share it.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.attack.canaries import ENVIRONMENT_NAME, public_folder, set_out
from tests.attack.fault_table import FAULTS, Fault
from tests.attack.row import PRIVILEGES, Privilege
from tests.attack.table import FOLDER, PROBES, TABLE, modules

ORDINARY = 65_534
SECONDS = 300
SCRIPTS = ("campaign", "controls", "faults")
FAILED = "the script failed"
NO_FAULT = "no fault"
ROOT = FOLDER.parents[1]

Told = dict[str, dict[str, Any]]


def possible() -> tuple[Privilege, ...]:
    """Root becomes anybody; an ordinary user runs the suite as itself alone."""
    return PRIVILEGES if os.geteuid() == 0 else ("user",)


def faults_for(privilege: Privilege) -> list[Fault]:
    """A call that fails does so alike for everybody, so it is tried by one; a claimed success differs."""
    return [fault for fault in FAULTS if fault.way == "lies" or privilege == possible()[0]]


@pytest.fixture(scope="session", params=possible())
def privilege(request: pytest.FixtureRequest) -> Privilege:
    chosen: Privilege = request.param
    return chosen


@dataclass(frozen=True, kw_only=True)
class Campaigns:
    """What became of every probe, by script and privilege."""

    secret: str
    told: dict[str, Told]

    def jailed(self, privilege: Privilege) -> Told:
        return self._of("campaign", privilege)["rows"]

    def unjailed(self, privilege: Privilege) -> Told:
        return self._of("controls", privilege)["rows"]

    def faulty(self, privilege: Privilege) -> Told:
        return self._of("faults", privilege)["rows"]

    def host_before(self, privilege: Privilege) -> dict[str, Any]:
        return self._of("campaign", privilege)["before"]

    def host_afterwards(self, privilege: Privilege) -> dict[str, Any]:
        return self._of("campaign", privilege)["afterwards"]

    def _of(self, script: str, privilege: Privilege) -> Told:
        """Fails with the script's own complaint where it told nothing."""
        told = self.told[f"{script} {privilege}"]
        assert FAILED not in told, told[FAILED]["text"]
        return told


@pytest.fixture(scope="session")
def campaigns(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Campaigns:
    """Every probe in the jail and without it; the first worker runs them, the others read what it wrote down."""
    base = tmp_path_factory.getbasetemp()
    shared = base if worker_id == "master" else base.parent
    with _alone(shared / "attack.lock"):
        kept = shared / "attack.json"
        if not kept.exists():
            kept.write_text(json.dumps(asdict(_run_all())), encoding="utf-8")
        return Campaigns(**json.loads(kept.read_text(encoding="utf-8")))


class _alone:
    """Holds a lock file that only one process has at a time."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8")

    def __enter__(self) -> None:
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _run_all() -> Campaigns:
    with public_folder() as folder, set_out(folder) as (secret, canaries):
        (folder / "scripts").mkdir()
        for script in SCRIPTS:
            shutil.copy(FOLDER / f"{script}.py", folder / "scripts")
        runs = {
            f"{script} {privilege}": _start(
                folder, script=script, privilege=privilege, secret=secret, order=_order(canaries, privilege)
            )
            for privilege in possible()
            for script in SCRIPTS
        }
        return Campaigns(secret=secret, told={name: running.told() for name, running in runs.items()})


def _order(canaries: dict[str, Any], privilege: Privilege) -> dict[str, Any]:
    """What both scripts are told; a control that only root can give is left to root's run."""
    controls = [[row.module, row.probe, row.control[privilege]] for row in TABLE]
    return {
        "canaries": canaries,
        "modules": modules(),
        "quick": [row.probe for row in TABLE if row.pace == "quick" for _ in range(row.times)],
        "long": [row.probe for row in TABLE if row.pace == "long"],
        "faults": {NO_FAULT: None, **{fault.name: fault.document() for fault in faults_for(privilege)}},
        "controls": [control for control in controls if control[2] != "probe by root"],
    }


@dataclass(frozen=True, kw_only=True)
class Running:
    """One script under way; its words go to files, so that all scripts run at once."""

    process: subprocess.Popen[bytes]
    said: Path
    complained: Path

    def told(self) -> Told:
        """What it printed; one that failed has told nothing, and the tests that need it say why."""
        try:
            self.process.wait(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.returncode != 0:
            return {FAILED: {"status": self.process.returncode, "text": self.complained.read_text(encoding="utf-8")}}
        told: Told = json.loads(self.said.read_text(encoding="utf-8"))
        return told


def _start(folder: Path, *, script: str, privilege: Privilege, secret: str, order: dict[str, Any]) -> Running:
    state = folder / f"{script}-{privilege}"
    state.mkdir(mode=0o700)
    asked, said, complained = (folder / f"{state.name}.{word}" for word in ("order", "said", "complained"))
    # Each run has its own copy of the probes: unjailed, some change their own source.
    tools = folder / f"{state.name}-tools"
    shutil.copytree(FOLDER / PROBES, tools / PROBES, ignore=shutil.ignore_patterns("__pycache__"))
    asked.write_text(json.dumps({**order, "state": str(state), "tools": str(tools)}), encoding="utf-8")
    other = ORDINARY if os.geteuid() == 0 and privilege == "user" else None
    if other is not None:
        os.chown(state, other, other)
    with asked.open("rb") as stdin, said.open("wb") as stdout, complained.open("wb") as stderr:
        process = subprocess.Popen(
            [interpreter(privilege), "-P", str(folder / "scripts" / f"{script}.py")],
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=state,
            env={"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(_import_path()), ENVIRONMENT_NAME: secret},
            user=other,
            group=other,
            extra_groups=None if other is None else [],
        )
    return Running(process=process, said=said, complained=complained)


def interpreter(privilege: Privilege) -> str:
    """This interpreter; for an ordinary user who cannot reach it, the system's of the same version."""
    if privilege == "root" or os.geteuid() != 0 or _open_to_all(Path(sys.base_prefix)):
        return sys.executable
    system = "/usr/bin/python3"
    asked = subprocess.run(
        [system, "-c", "import sys; print(sys.version_info[:2])"], capture_output=True, text=True, check=True
    )
    assert asked.stdout.strip() == str(sys.version_info[:2]), f"`{system}` is not of this interpreter's version"
    return system


def _import_path() -> Iterator[str]:
    """Ringfence and its distributions, and nothing of the tests."""
    yield str(ROOT / "src")
    yield from (path for path in sys.path if path.endswith("-packages"))


def _open_to_all(folder: Path) -> bool:
    return all(parent.stat().st_mode & 0o005 == 0o005 for parent in (folder, *folder.parents))
