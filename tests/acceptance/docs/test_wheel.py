"""A stranger installs the wheel in an empty environment, copies the README's example, and it does what it says."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from tests.acceptance.docs.pages import ROOT, Block, blocks

pytestmark = pytest.mark.req("CON-1", "OPS-1")

BUILT_FROM = ("pyproject.toml", "README.md", "LICENSE", "src")


def run(*words: str | Path, folder: Path) -> str:
    # Nothing of this checkout may help: neither its path nor its settings are handed on.
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    done = subprocess.run(
        [*map(str, words)], cwd=folder, env=clean, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def build_wheel(folder: Path) -> Path:
    """The wheel, built from a copy of the tree so that a build never writes into it."""
    tree = folder / "tree"
    tree.mkdir()
    for name in BUILT_FROM:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, tree / name)
    run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", folder / "dist", folder=tree)
    (wheel,) = (folder / "dist").glob("*.whl")
    return wheel


def install(wheel: Path, *, into: Path) -> Path:
    """A new environment with the locked requirements, by hash, and the wheel; gives its interpreter."""
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}")
    venv.create(into, with_pip=uv is None, symlinks=True)
    python = into / "bin" / "python"
    pip = (uv, "pip", "install", "--python", python) if uv else (python, "-m", "pip", "install")
    lock = ROOT / "requirements" / "base.txt"
    run(*pip, "--quiet", "--require-hashes", "--only-binary", ":all:", "-r", lock, folder=into)
    run(*pip, "--quiet", "--no-deps", wheel, folder=into)
    return python


def marked_block(mark: str) -> Block:
    (found,) = (block for block in blocks(ROOT / "README.md") if block.mark == mark)
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("build"))


def test_the_readme_example_runs_from_the_wheel_outside_the_tree(wheel: Path, tmp_path: Path) -> None:
    python = install(wheel, into=tmp_path / "environment")
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "example.py").write_text(marked_block("snippet").text, encoding="utf-8")
    assert run(python, "example.py", folder=empty) == marked_block("output").text
    where = run(python, "-c", "import ringfence; print(ringfence.__file__)", folder=empty)
    assert Path(where.strip()).is_relative_to(tmp_path)
    assert "Usage: ringfence" in run(python.with_name("ringfence"), "--help", folder=empty)


def test_the_wheel_carries_the_readme_and_every_file_of_the_package(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        described = archive.read(metadata).decode()
    package = (path for path in (ROOT / "src").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    assert {path.relative_to(ROOT / "src").as_posix() for path in package} - names == set()
    assert (ROOT / "README.md").read_text(encoding="utf-8").strip() in described
