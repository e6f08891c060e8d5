"""A listed binary is a file: found, known by its identity, never a script without its interpreter."""

from __future__ import annotations

import os
import shutil
import struct
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ringfence.contract.capabilities import Processes
from ringfence.contract.interpreters import INTERPRETERS, interpreter
from ringfence.contract.safety import Safety
from ringfence.contract.tool import tool
from ringfence.errors import CallRefused, DeclarationRefused
from ringfence.inside.layout import Granted, Mount, identity_of
from ringfence.kernel import landlock
from ringfence.sandbox import programs as finding
from ringfence.sandbox.elf import HEAD_BYTES, read_head
from ringfence.sandbox.library import programs_in
from ringfence.sandbox.programs import resolve_programs
from ringfence.sandbox.with_programs import hidden_programs, program_links, program_rules, search_path

pytestmark = pytest.mark.req("SBX-5")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of programs that is searched like the machine's own."""
    place = Path("/var/tmp") / f"ringfence-{os.getpid()}-{tmp_path.name}"
    place.mkdir()
    shutil.copy("/usr/bin/true", place / "real")
    (place / "named").symlink_to("real")
    (place / "script").write_text("#!/usr/bin/awk -f\n")
    (place / "script").chmod(0o755)
    (place / "text").write_text("hello")
    (place / "text").chmod(0o755)
    shutil.copy("/usr/bin/true", place / "locked")
    (place / "locked").chmod(0o644)
    monkeypatch.setattr(finding, "SEARCHED", (str(place), "/usr/bin"))
    try:
        yield place
    finally:
        shutil.rmtree(place)


def refusal(*binaries: str, safety: Safety = Safety.WRITE, granted: tuple[Granted, ...] = ()) -> CallRefused:
    with pytest.raises(CallRefused) as caught:
        resolve_programs(Processes(*binaries), granted=granted, safety=safety)
    return caught.value


def test_a_name_is_the_file_that_it_leads_to(folder: Path) -> None:
    (found,) = resolve_programs(Processes("named"), granted=(), safety=Safety.READ)
    assert (found.name, found.place, found.path) == ("named", str(folder / "named"), str(folder / "real"))
    assert found.identity == identity_of(os.stat(folder / "real"))
    assert found.loader is not None
    assert os.path.realpath(found.loader) == found.loader
    again = resolve_programs(Processes(str(folder / "real")), granted=(), safety=Safety.READ)[0]
    assert again.identity == found.identity


def test_a_file_that_was_altered_makes_another_jail(folder: Path) -> None:
    (before,) = resolve_programs(Processes("real"), granted=(), safety=Safety.READ)
    with (folder / "real").open("ab") as file:
        file.write(b"x")
    (after,) = resolve_programs(Processes("real"), granted=(), safety=Safety.READ)
    assert after != before


@pytest.mark.parametrize("name", ["absent", "/no/such/file", "text", "locked"])
def test_what_is_no_program_is_not_available(folder: Path, name: str) -> None:
    assert refusal(name).code == "not_available"


def test_a_script_needs_its_interpreter_listed_too(folder: Path) -> None:
    assert refusal("script").code == "binary_not_allowed"
    assert len(resolve_programs(Processes("script", "awk"), granted=(), safety=Safety.WRITE)) == 2


def test_a_program_that_the_call_could_write_is_refused(folder: Path) -> None:
    writable = Granted(path="/workspace", source=str(folder), identity="", access="write")
    assert refusal("real", granted=(writable,)).code == "binary_not_allowed"
    resolve_programs(Processes("real"), granted=(replace(writable, access="read"),), safety=Safety.WRITE)


def test_an_interpreter_under_another_name_is_one_all_the_same(folder: Path) -> None:
    (folder / "harmless").symlink_to("/usr/bin/sh")
    assert "at least of class `write`" in refusal("harmless", safety=Safety.READ).message
    resolve_programs(Processes("harmless"), granted=(), safety=Safety.WRITE)


@pytest.mark.parametrize("name", ["python3", "python3.11", "/usr/bin/python", "bash", "node", "perl5.36", "Rscript"])
def test_a_tool_that_reads_lists_no_interpreter(name: str) -> None:
    assert interpreter(name)
    with pytest.raises(DeclarationRefused, match="at least of class `write`"):

        @tool(safety="read", needs=[Processes(name)])
        def read_by_program(number: int) -> int:
            """Read."""
            return number


def test_what_only_starts_others_is_no_interpreter() -> None:
    assert all(interpreter(name) is None for name in ("git", "find", "wc", "jq", "tar"))
    assert all(INTERPRETERS.values())


def test_rules_links_and_path_name_exactly_the_listed_files(folder: Path) -> None:
    (found,) = resolve_programs(Processes("named"), granted=(), safety=Safety.READ)
    rules = {rule.path: rule.rights for rule in program_rules((found,))}
    assert rules == {found.path: landlock.RUN, found.loader: landlock.RUN}
    links = {link.path: link.target for link in program_links((found,))}
    assert links[found.place] == found.path
    assert search_path((found,)) == {"PATH": str(folder)}
    assert (program_rules(()), program_links(()), search_path(())) == ((), (), {})


def test_programs_among_libraries_are_found_and_libraries_are_not(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    shutil.copy("/usr/bin/true", tmp_path / "deep" / "program")
    shutil.copy("/usr/bin/true", tmp_path / "libtrue.so.1")
    (tmp_path / "link").symlink_to("deep/program")
    (tmp_path / "text").write_text("x")
    (tmp_path / "text").chmod(0o755)
    assert programs_in(str(tmp_path)) == (str(tmp_path / "deep" / "program"),)
    mounts = [Mount(path=str(tmp_path), kind="folder", code=code) for code in ("allowed", "refused")]
    assert hidden_programs(mounts) == programs_in(str(tmp_path))


def test_heads_are_read_without_trust() -> None:
    true = Path("/usr/bin/true").read_bytes()
    assert read_head(true[:HEAD_BYTES]).loader == "/lib64/ld-linux-x86-64.so.2"
    assert read_head(b"#!/bin/sh -e\nx").script == ("/bin/sh", "-e")
    for head in (b"", b"\x7fELF", true[:64], true[:32] + struct.pack("<Q", 1 << 63) + true[40:HEAD_BYTES], b"MZ"):
        assert read_head(head).loader is None
