"""Each guard of the spine is taken out of a copy of the source, and a test that names it goes red."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.removals import REMOVALS, Removal
from tests.architecture.source import ROOT
from tests.requirements import LIVE

pytestmark = pytest.mark.req("HOUSE-10")

SOURCE = ROOT / "src"
ALL_PASSED, SOME_FAILED = 0, 1
NAMES = [f"{removal.id}-{Path(removal.file).stem}-{number}" for number, removal in enumerate(REMOVALS)]


def run(tests: tuple[str, ...], *, source: Path) -> subprocess.CompletedProcess[str]:
    """The named tests, against this source."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment = {**inherited, "PYTHONPATH": os.pathsep.join([str(source), str(ROOT)])}
    # What holds for a whole run, and its summary, stands above the folder of the tests and is not loaded.
    beneath = os.path.commonpath([ROOT / Path(test.partition("::")[0]).parent for test in tests])
    options = ["-q", "-x", f"--confcutdir={beneath}", "--no-header", "--tb=line"]
    # Plugins that no named test needs; to load Hypothesis's takes longer than most tests.
    options += [f"-pno:{plugin}" for plugin in ("cacheprovider", "xdist", "hypothesispytest", "anyio")]
    command = [sys.executable, "-m", "pytest", *options, *tests]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def without(removal: Removal, *, folder: Path) -> Path:
    """A copy of the source in which this guard is gone."""
    copy = folder / "src"
    shutil.copytree(SOURCE, copy)
    file = copy / "ringfence" / removal.file
    file.write_text(file.read_text(encoding="utf-8").replace(removal.find, removal.put), encoding="utf-8")
    return copy


def test_the_tables_have_a_guard_for_nearly_everything_that_is_promised() -> None:
    ids = {removal.id for removal in REMOVALS}
    assert ids <= {row.id for row in LIVE}
    assert len(ids) >= 55


@pytest.mark.parametrize("removal", REMOVALS, ids=NAMES)
def test_each_guard_stands_in_exactly_one_place(removal: Removal) -> None:
    text = (SOURCE / "ringfence" / removal.file).read_text(encoding="utf-8")
    assert text.count(removal.find) == 1


def test_every_named_test_passes_while_the_guards_stand() -> None:
    tests = tuple(dict.fromkeys(test for removal in REMOVALS for test in removal.tests))
    done = run(tests, source=SOURCE)
    assert done.returncode == ALL_PASSED, done.stdout[-2_000:]


def shortened() -> list[object]:
    """Every promise once in each file that holds it; what is left takes as long again, and is tried in the long run."""
    seen: set[tuple[str, str]] = set()
    rows: list[object] = []
    for removal, name in zip(REMOVALS, NAMES, strict=True):
        marks = [pytest.mark.long] if (removal.id, removal.file) in seen else []
        seen.add((removal.id, removal.file))
        rows.append(pytest.param(removal, id=name, marks=marks))
    return rows


@pytest.mark.parametrize("removal", shortened())
def test_without_its_guard_a_promise_has_a_red_test(removal: Removal, tmp_path: Path) -> None:
    done = run(removal.tests, source=without(removal, folder=tmp_path))
    assert done.returncode == SOME_FAILED, f"{removal.id}: {done.stdout[-2_000:]}{done.stderr[-2_000:]}"
