"""Real jails for tests: one sandbox for a whole module, and an interpreter that an ordinary user can run."""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

import ringfence
from tests.integration.sandbox.driver import STILL_OPEN, Yard

NOBODY = 65534
HERE = Path(__file__).parent
# What the host half of the sandbox and the tests' own script import.
DISTRIBUTIONS = (
    "pydantic", "pydantic_core", "annotated_types", "typing_extensions.py", "typing_inspection", "rfc8785",
    "idna", "publicsuffixlist", "jsonschema_rs", "re2*", "_re2*.so",
)  # fmt: skip


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def yard(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Yard]:
    """One sandbox for the tests of a module; closing it asserts that it leaves nothing."""
    opened = Yard(state=tmp_path_factory.mktemp("state"))
    try:
        yield opened
    finally:
        await opened.close()


@pytest_asyncio.fixture
async def failing_leaves_nothing() -> AsyncIterator[None]:
    """A test that fails before it closed its sandbox fails alone: the next one finds none of its processes."""
    yield
    for left in list(STILL_OPEN):
        await left.close()


@pytest.fixture(scope="session")
def ordinary_user_python() -> Iterator[Callable[..., str]]:
    """Runs a script as an ordinary user and gives what it printed."""
    assert os.geteuid() == 0, "this leg switches to an ordinary user, so the tests must run as root"
    folder = Path("/var/tmp") / f"ringfence-tests-{os.getpid()}"
    packages = folder / "site-packages"
    packages.mkdir(parents=True)
    installed = Path(next(path for path in site.getsitepackages()))
    for pattern in DISTRIBUTIONS:
        for found in installed.glob(pattern):
            (shutil.copytree if found.is_dir() else shutil.copy)(found, packages / found.name)
    shutil.copytree(Path(ringfence.__file__).parent, packages / "ringfence")
    shutil.copytree(HERE, folder / "tests")
    folder.chmod(0o755)
    interpreter = _interpreter_for_everybody()

    def run(script: str, *arguments: str) -> str:
        home = folder / "home"
        home.mkdir(exist_ok=True)
        os.chown(home, NOBODY, NOBODY)
        done = subprocess.run(
            [interpreter, str(folder / "tests" / script), *arguments],
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            cwd="/",
            env={"PYTHONPATH": str(packages), "HOME": str(home), "TMPDIR": str(home)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    try:
        yield run
    finally:
        shutil.rmtree(folder)


def _interpreter_for_everybody() -> str:
    """An interpreter of this version that does not live under somebody's private home."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for candidate in (f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        if Path(candidate).exists():
            return candidate
    raise AssertionError(f"no {version} that an ordinary user can run; install one under /usr")
