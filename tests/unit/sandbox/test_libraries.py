"""Which library files a program names outside the usual folders, read from files that nobody trusts."""

from __future__ import annotations

import os
import random
import struct
from pathlib import Path

import pytest

from ringfence.errors import CallRefused
from ringfence.inside.layout import Granted, Mount, Program
from ringfence.sandbox.elf_dynamic import Wants, read_wants
from ringfence.sandbox.libraries import Libraries, libraries_of
from ringfence.sandbox.programs import require_unchangeable
from ringfence.sandbox.with_programs import program_links

pytestmark = pytest.mark.req("SBX-5")

NEEDED, STRINGS, STRINGS_SIZE, RPATH, RUNPATH = 1, 5, 10, 15, 29
BASE = 0x1000


def elf(*, needed: tuple[str, ...] = (), rpath: str = "", runpath: str = "") -> bytes:
    """The smallest file that names these libraries and folders."""
    strings, entries = b"\0", b""
    for tag, text in (*((NEEDED, name) for name in needed), (RPATH, rpath), (RUNPATH, runpath)):
        if text:
            entries += struct.pack("<qQ", tag, len(strings))
            strings += text.encode() + b"\0"
    head_size, segment_size = 64, 56
    strings_at = head_size + 2 * segment_size
    entries += struct.pack("<qQqQqQ", STRINGS, BASE + strings_at, STRINGS_SIZE, len(strings), 0, 0)
    dynamic_at = strings_at + len(strings)
    total = dynamic_at + len(entries)
    head = b"\x7fELF\x02\x01" + bytes(10) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    loaded = struct.pack("<IIQQQQQQ", 1, 5, 0, BASE, BASE, total, total, 4096)
    dynamic = struct.pack("<IIQQQQQQ", 2, 6, dynamic_at, BASE + dynamic_at, 0, len(entries), len(entries), 8)
    return head + loaded + dynamic + strings + entries


def wants(content: bytes, folder: Path) -> Wants:
    file = folder / "file"
    file.write_bytes(content)
    descriptor = os.open(file, os.O_RDONLY)
    try:
        return read_wants(descriptor)
    finally:
        os.close(descriptor)


def program(path: Path) -> Program:
    return Program(name=path.name, place=str(path), path=str(path), loader=None, identity="", changed="")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("bin", "lib", "usual"):
        (tmp_path / name).mkdir()
    return tmp_path


def test_names_and_folders_are_read_as_they_are_spelled(tmp_path: Path) -> None:
    found = wants(elf(needed=("liba.so", "libb.so"), rpath="/one:/two", runpath="$ORIGIN/x"), tmp_path)
    assert found == Wants(needed=("liba.so", "libb.so"), rpath=("/one", "/two"), runpath=("$ORIGIN/x",))


def test_a_file_of_nonsense_wants_nothing_and_costs_nothing(tmp_path: Path) -> None:
    good = elf(needed=("liba.so",), runpath="/one")
    chance = random.Random(7)
    for _ in range(500):
        bad = bytearray(good)
        for _ in range(chance.randrange(1, 12)):
            bad[chance.randrange(6, len(bad))] = chance.randrange(256)
        wants(bytes(bad[: chance.randrange(len(bad))]) if chance.random() < 0.3 else bytes(bad), tmp_path)
    for nonsense in (b"", b"#!/bin/sh\n", good[:40], good[:70], good[:32] + b"\xff" * 8 + good[40:]):
        assert wants(nonsense, tmp_path) == Wants()


@pytest.mark.parametrize("how", ["rpath", "runpath"])
@pytest.mark.parametrize("spelled", ["$ORIGIN/../lib", "${ORIGIN}/../lib", "{folder}/lib"])
def test_a_library_is_found_where_the_program_says(folder: Path, how: str, spelled: str) -> None:
    (folder / "lib" / "liba.so.1").write_bytes(elf())
    (folder / "lib" / "liba.so").symlink_to("liba.so.1")
    told = spelled.replace("{folder}", str(folder))
    (folder / "bin" / "p").write_bytes(
        elf(needed=("liba.so",), rpath=told if how == "rpath" else "", runpath=told if how == "runpath" else "")
    )
    (found,) = libraries_of([program(folder / "bin" / "p")], usual=[str(folder / "usual")])
    assert (found.place, found.path) == (str(folder / "lib" / "liba.so"), str(folder / "lib" / "liba.so.1"))


def test_a_folder_that_depends_on_where_the_caller_stands_is_not_looked_in(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    (folder / "lib" / "liba.so").write_bytes(elf())
    (folder / "bin" / "p").write_bytes(elf(needed=("liba.so", "../lib/liba.so"), runpath="lib:$ELSEWHERE/lib"))
    assert libraries_of([program(folder / "bin" / "p")], usual=[]) == ()


def test_libraries_of_libraries_are_found_by_what_was_passed_on(folder: Path) -> None:
    (folder / "lib" / "liba.so").write_bytes(elf(needed=("libb.so",)))
    (folder / "lib" / "libb.so").write_bytes(elf(needed=("liba.so",)))
    (folder / "bin" / "p").write_bytes(elf(needed=("liba.so",), rpath="$ORIGIN/../lib"))
    found = libraries_of([program(folder / "bin" / "p")], usual=[])
    assert [each.name for each in found] == ["liba.so", "libb.so"]
    (folder / "bin" / "p").write_bytes(elf(needed=("liba.so",), runpath="$ORIGIN/../lib"))
    assert [each.name for each in libraries_of([program(folder / "bin" / "p")], usual=[])] == ["liba.so"]


def test_a_library_in_a_usual_folder_needs_no_grant(folder: Path) -> None:
    (folder / "usual" / "liba.so").write_bytes(elf())
    (folder / "bin" / "p").write_bytes(elf(needed=("liba.so",), runpath="$ORIGIN/../usual"))
    assert libraries_of([program(folder / "bin" / "p")], usual=[str(folder / "usual")]) == ()


def test_a_library_that_was_replaced_is_looked_up_again(folder: Path) -> None:
    library = folder / "lib" / "liba.so"
    library.write_bytes(elf())
    (folder / "bin" / "p").write_bytes(elf(needed=("liba.so",), runpath="$ORIGIN/../lib"))
    known, programs = Libraries(), (program(folder / "bin" / "p"),)
    before = known.of(programs, usual=tuple)
    assert known.of(programs, usual=tuple) is before
    library.unlink()
    (folder / "lib" / "another").write_bytes(b"")
    library.write_bytes(elf(rpath="/x"))
    after = known.of(programs, usual=tuple)
    assert (len(after), after == before) == (1, False)


def test_a_library_that_the_call_could_write_is_refused(folder: Path) -> None:
    writable = Granted(path="/workspace", source=str(folder / "lib"), identity="", access="write")
    with pytest.raises(CallRefused) as caught:
        require_unchangeable(program(folder / "lib" / "liba.so"), (writable,))
    assert caught.value.code == "binary_not_allowed"


def test_a_name_that_comes_with_its_folder_is_not_made_and_what_it_leads_to_is(folder: Path) -> None:
    for name in ("mounted", "between"):
        (folder / name).mkdir()
    real = folder / "bin" / "real"
    real.write_bytes(b"")
    (folder / "between" / "step").symlink_to(real)
    (folder / "mounted" / "name").symlink_to(folder / "between" / "step")
    listed = Program(
        name="name", place=str(folder / "mounted" / "name"), path=str(real), loader=None, identity="", changed=""
    )
    mounts = [Mount(path=str(folder / "mounted"), kind="folder")]
    made = {
        link.path: link.target for link in program_links([listed], mounts=mounts) if link.path.startswith(str(folder))
    }
    assert made == {str(folder / "between" / "step"): str(real)}
