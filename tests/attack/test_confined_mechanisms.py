"""Each wall of the confined jail is taken out of a copy of the source, and a test goes red; with all it is green.

The copy lies where every user can read it: a jail that its own user cannot reach would be red for that alone.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.removals import Removal
from tests.architecture.test_removals import ALL_PASSED, SOME_FAILED, SOURCE, without
from tests.attack.canaries import public_folder
from tests.attack.confined_mechanisms import MECHANISMS
from tests.attack.test_mechanisms import run

pytestmark = pytest.mark.req("SBX-3", "SBX-6")

NAMES = [f"{removal.id}-{Path(removal.file).stem}-{number}" for number, removal in enumerate(MECHANISMS)]
NOTHING = Removal(id="SBX-6", file="inside/confined.py", find="namespaces.become", put="namespaces.become", tests=())


@pytest.mark.parametrize("removal", MECHANISMS, ids=NAMES)
def test_each_wall_stands_in_exactly_one_place(removal: Removal) -> None:
    text = (SOURCE / "ringfence" / removal.file).read_text(encoding="utf-8")
    assert text.count(removal.find) == 1


@pytest.mark.long
def test_with_every_wall_the_same_tests_pass_on_a_copy() -> None:
    tests = tuple(dict.fromkeys(test for removal in MECHANISMS for test in removal.tests))
    with public_folder() as folder:
        done = run(tests, source=without(NOTHING, folder=folder))
    assert done.returncode == ALL_PASSED, done.stdout[-2_000:]


@pytest.mark.long
@pytest.mark.parametrize("removal", MECHANISMS, ids=NAMES)
def test_without_a_wall_a_test_goes_red(removal: Removal) -> None:
    with public_folder() as folder:
        done = run(removal.tests, source=without(removal, folder=folder))
    assert done.returncode == SOME_FAILED, f"{removal.find}: {done.stdout[-2_000:]}{done.stderr[-2_000:]}"
