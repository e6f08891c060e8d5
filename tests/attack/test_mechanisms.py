"""Each wall of the jail is taken out of a copy of the source, and an attack test or the posture check goes red."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.removals import Removal
from tests.architecture.source import ROOT
from tests.architecture.test_removals import SOME_FAILED, SOURCE, without
from tests.attack.mechanisms import MECHANISMS

pytestmark = pytest.mark.req("SBX-3", "SBX-6")

ALONE = Path(__file__).with_name("alone.py")
NAMES = [f"{removal.id}-{Path(removal.file).stem}-{number}" for number, removal in enumerate(MECHANISMS)]


def run(tests: tuple[str, ...], *, source: Path) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment = {**inherited, "PYTHONPATH": os.pathsep.join([str(source), str(ROOT)])}
    options = ["-q", "-x", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=line", "-m", "not long"]
    command = [sys.executable, str(ALONE), sys.executable, "-m", "pytest", *options, *tests]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


LEAVES_ONE = """
import os, subprocess
left = subprocess.Popen(["sleep", "3600"], stdout=subprocess.DEVNULL, start_new_session=True)
print(left.pid, flush=True)
os._exit(7)
"""


def test_whatever_a_run_without_a_wall_leaves_behind_is_ended() -> None:
    program = [sys.executable, "-c", LEAVES_ONE]
    unattended = subprocess.run(program, stdout=subprocess.PIPE, text=True, check=False)
    orphan = int(unattended.stdout)
    os.kill(orphan, signal.SIGKILL)  # it was there
    done = subprocess.run([sys.executable, str(ALONE), *program], stdout=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, Path(f"/proc/{int(done.stdout)}").exists()) == (7, False)


@pytest.mark.parametrize("removal", MECHANISMS, ids=NAMES)
def test_each_wall_stands_in_exactly_one_place(removal: Removal) -> None:
    text = (SOURCE / "ringfence" / removal.file).read_text(encoding="utf-8")
    assert text.count(removal.find) == 1


@pytest.mark.long
@pytest.mark.parametrize("removal", MECHANISMS, ids=NAMES)
def test_without_a_wall_an_attack_or_the_posture_check_goes_red(removal: Removal, tmp_path: Path) -> None:
    done = run(removal.tests, source=without(removal, folder=tmp_path))
    assert done.returncode == SOME_FAILED, f"{removal.find}: {done.stdout[-2_000:]}{done.stderr[-2_000:]}"
