"""Contracts are read in a jail from a snapshot, and the snapshot is what runs."""

# ruff: noqa: ASYNC240  a test may look at files while nothing else waits for the loop
from __future__ import annotations

import importlib.util
import py_compile
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import pytest_asyncio

from ringfence.contract.tool import Tool
from ringfence.errors import DeclarationRefused
from tests.integration.sandbox.driver import Yard

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.req("CON-13")]

PLAIN = '''
from ringfence import tool

@tool(safety="read")
def answer() -> int:
    """Give a number."""
    return {number}
'''


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


async def test_the_source_as_it_was_described_is_what_runs(yard: Yard, tmp_path: Path) -> None:
    file = write(tmp_path, "changing.py", PLAIN.format(number=1))
    await yard.load("changing", folder=tmp_path)
    file.write_text(PLAIN.format(number=2))
    assert await yard.output("answer") == 1
    await yard.load("changing", folder=tmp_path)
    assert await yard.output("answer") == 2


async def test_a_planted_pyc_is_neither_read_nor_run(yard: Yard, tmp_path: Path) -> None:
    file = write(tmp_path, "planted/tools.py", PLAIN.format(number=666))
    write(tmp_path, "planted/__init__.py", "")
    cached = py_compile.compile(str(file), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    assert cached
    Path(cached).rename(file.with_suffix(".pyc"))
    py_compile.compile(str(file), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    before = (await yard.load("planted.tools", folder=tmp_path)).digest
    file.write_text(PLAIN.format(number=3))
    described = await yard.load("planted.tools", folder=tmp_path)
    assert described.digest != before
    assert await yard.output("answer") == 3


async def test_a_package_comes_whole_without_its_hidden_files(yard: Yard, tmp_path: Path) -> None:
    write(tmp_path, "acme/__init__.py", "")
    write(tmp_path, "acme/words.txt", "from a file")
    write(tmp_path, "acme/.env", "SECRET=1")
    write(tmp_path, "neighbour.py", "")
    write(
        tmp_path,
        "acme/inner/tools.py",
        '''
import os
from pathlib import Path
from ringfence import tool

@tool(safety="read")
def look() -> list[str]:
    """Look around."""
    here = Path(__file__).parents[1]
    return [(here / "words.txt").read_text(), *sorted(os.listdir(here)), *sorted(os.listdir(here.parent))]
''',
    )
    described = await yard.load("acme.inner.tools", folder=tmp_path)
    assert (described.module, described.source) == ("acme.inner.tools", "module:acme.inner.tools")
    assert await yard.output("look") == ["from a file", "__init__.py", "inner", "words.txt", "acme"]


async def test_import_time_code_runs_in_the_jail_and_its_failure_is_told(yard: Yard, tmp_path: Path) -> None:
    outside = tmp_path / "written-by-import"
    write(tmp_path, "nasty.py", f"open({str(outside)!r}, 'w').write('x')")
    with pytest.raises(DeclarationRefused, match=r"module `nasty`: .*FileNotFoundError"):
        await yard.load("nasty", folder=tmp_path)
    assert not outside.exists()
    assert "nasty" not in sys.modules


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("import os; os._exit(0)", "ended"),
        ("import os, struct; os.write(3, struct.pack('!2sBBI', b'RF', 1, 7, 9) + b'[1, 2, 3]')", "well-formed"),
        ("import os; os.write(3, b'x' * 100)", "well-formed"),
        ("import mmap; mmap.mmap(-1, 4096)", "PermissionError"),
        ("import socket; socket.socket()", "PermissionError"),
        ("import os; os.fork()", "PermissionError"),
    ],
)
async def test_a_hostile_import_is_refused(yard: Yard, tmp_path: Path, text: str, complaint: str) -> None:
    write(tmp_path, "hostile.py", text)
    with pytest.raises(DeclarationRefused, match=complaint):
        await yard.load("hostile", folder=tmp_path)


LYING = '''
import json
from ringfence import tool
from ringfence.inside import describe, serve

@tool(safety="read")
def harmless() -> int:
    """Give a number."""
    return 1

def lie(tools):
    return {lie}

serve.documents = lie
'''


@pytest.mark.parametrize(
    "lie", ["[{}]", "'x'", "[1]", "[{'name': 'x'}]", "[dict(tools['harmless'].document(), trust=1)]"]
)
async def test_a_description_that_lies_is_refused(yard: Yard, tmp_path: Path, lie: str) -> None:
    write(tmp_path, "lying.py", LYING.format(lie=lie))
    with pytest.raises(DeclarationRefused):
        await yard.load("lying", folder=tmp_path)


async def test_a_contract_that_differs_in_the_jail_from_the_registered_one_does_not_run(
    yard: Yard, tmp_path: Path
) -> None:
    write(tmp_path, "lying.py", LYING.format(lie="[dict(tools['harmless'].document(), description='Another.')]"))
    await yard.load("lying", folder=tmp_path)
    code, _ = await yard.fault("harmless")
    assert code == "definition_changed"


@pytest_asyncio.fixture(loop_scope="module")
async def own(tmp_path: Path) -> ModuleType:
    """A module that this process imported, with a tool in it."""
    file = write(
        tmp_path,
        "own_tools.py",
        PLAIN.format(number=5)
        + '''

def make():
    @tool(safety="read")
    def nested() -> int:
        """Give a number."""
        return 1
    return nested

nested = make()
''',
    )
    spec = importlib.util.spec_from_file_location("own_tools", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["own_tools"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    sys.modules.pop("own_tools", None)


async def test_a_tool_handed_over_in_code_is_found_again_in_the_jail(yard: Yard, own: ModuleType) -> None:
    declared: Tool = own.answer
    (described,) = await yard.describer.describe_declared([declared])
    yard.register(described)
    assert described.tools == (declared,)
    assert await yard.output("answer") == 5


async def test_a_tool_of_the_main_module_is_imported_by_its_file_under_another_name(
    yard: Yard, own: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "__main__", own)
    monkeypatch.setattr(own, "__spec__", None)
    monkeypatch.setattr(own.answer.implementation.function, "__module__", "__main__")
    (described,) = await yard.describer.describe_declared([own.answer])
    assert described.module not in ("__main__", "own_tools")
    yard.register(described)
    assert await yard.output("answer") == 5


async def test_a_nested_function_is_refused_with_the_remedy(yard: Yard, own: ModuleType) -> None:
    with pytest.raises(DeclarationRefused, match="not a plain function") as refused:
        await yard.describer.describe_declared([own.nested])
    assert "top level of a module" in refused.value.remedy


async def test_a_tool_without_a_file_is_refused_with_the_remedy(
    yard: Yard, own: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own, "__file__", None)
    with pytest.raises(DeclarationRefused, match="no file"):
        await yard.describer.describe_declared([own.answer])


async def test_a_declared_tool_that_its_file_declares_otherwise_is_refused(yard: Yard, own: ModuleType) -> None:
    assert own.__file__ is not None
    Path(own.__file__).write_text(PLAIN.format(number=5).replace("Give a number", "Give another number"))
    with pytest.raises(DeclarationRefused, match="not, in the jail") as refused:
        await yard.describer.describe_declared([own.answer])
    assert refused.value.code == "definition_changed"
