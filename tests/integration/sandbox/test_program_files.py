"""What a program needs besides its own file: names that are links, libraries in places of their own, git's parts."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from ringfence.agents.profile import Permits
from ringfence.contract.capabilities import Files, Processes
from tests.integration.sandbox.driver import Yard

pytestmark = [pytest.mark.req("SBX-5"), pytest.mark.asyncio(loop_scope="module")]

GIT_CORE = "/usr/lib/git-core"
AMONG = Path("/usr/local/lib") / f"ringfence-libraries-{os.getpid()}"
INNER = "int inner(void) { return 40; }"
OUTER = "int inner(void); int outer(void) { return inner() + 2; }"
MAIN = '#include <stdio.h>\nint outer(void);\nint main(void) { printf("%d\\n", outer()); return 0; }'


@pytest.fixture(scope="module")
def built() -> Iterator[Path]:
    """A program whose library lies beside it, and that library's own library elsewhere still."""
    folder = Path("/var/tmp") / f"ringfence-libraries-{os.getpid()}"
    for name in ("bin", "lib", "deep", "other"):
        (folder / name).mkdir(parents=True)
    for name, text in (("inner.c", INNER), ("outer.c", OUTER), ("main.c", MAIN)):
        (folder / name).write_text(text)

    def compile_(*words: str) -> None:
        subprocess.run(["gcc", *words], cwd=folder, check=True)

    compile_("-shared", "-fPIC", "-o", "deep/libinner.so", "inner.c")
    compile_("-shared", "-fPIC", "-o", "lib/libouter.so.1.0", "outer.c", "-Wl,-soname,libouter.so.1",
             "-Wl,--enable-new-dtags,-rpath,$ORIGIN/../deep", "-Ldeep", "-linner")  # fmt: skip
    (folder / "lib" / "libouter.so.1").symlink_to("libouter.so.1.0")
    compile_("-o", "bin/answer", "main.c", "lib/libouter.so.1.0",
             "-Wl,--enable-new-dtags,-rpath,$ORIGIN/../lib", "-Wl,-rpath-link,deep")  # fmt: skip
    shutil.copytree(folder / "deep", AMONG)
    compile_("-shared", "-fPIC", "-o", str(AMONG / "libouter.so.1"), "outer.c", "-Wl,-soname,libouter.so.1",
             "-Ldeep", "-linner")  # fmt: skip
    (AMONG / "notes.txt").write_text("every jail may read this folder")
    compile_("-o", "bin/among", "main.c", "lib/libouter.so.1.0",
             f"-Wl,--disable-new-dtags,-rpath,{AMONG}", "-Wl,-rpath-link,deep")  # fmt: skip
    (folder / "lib" / "notes.txt").write_text("beside the library, and nobody asked for it")
    (folder / "other" / "question").symlink_to("../bin/answer")
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
        shutil.rmtree(AMONG, ignore_errors=True)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def yard(built: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Yard]:
    workspace = Path("/var/tmp") / f"ringfence-workspace-{os.getpid()}"
    (workspace / "repo").mkdir(parents=True)
    listed = Processes(
        str(built / "other" / "question"), "cat", "ls", "awk", str(built / "bin" / "among"),
        "git", f"{GIT_CORE}/git", f"{GIT_CORE}/git-remote-https",
    )  # fmt: skip
    opened = Yard(
        state=tmp_path_factory.mktemp("state"),
        permits=Permits(processes=listed, files=Files(write=["repo"])),
        workspaces={"ana": str(workspace)},
    )
    await opened.load("any_program")
    try:
        yield opened
    finally:
        await opened.close()
        shutil.rmtree(workspace)


async def test_a_listed_link_is_the_file_it_leads_to_and_the_name_is_there_too(yard: Yard, built: Path) -> None:
    link, real = str(built / "other" / "question"), str(built / "bin" / "answer")
    assert await yard.output("start_listed", {"words": [link]}) == "0 42"
    assert await yard.output("start_listed", {"words": [real]}) == "0 42"
    assert (await yard.output("start_listed", {"words": ["ls", str(built / "other")]})) == "0 question"


async def test_libraries_that_a_program_names_are_there_and_nothing_beside_them(yard: Yard, built: Path) -> None:
    shown = await yard.output("start_listed", {"words": ["ls", str(built / "lib"), str(built / "deep")]})
    assert [word for word in shown.split() if word.startswith("lib")] == [
        "libinner.so",
        "libouter.so.1",
        "libouter.so.1.0",
    ]
    assert "notes.txt" not in shown


async def test_a_library_that_the_call_could_write_keeps_the_program_from_running(
    built: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    state = tmp_path_factory.mktemp("writable")
    permits = Permits(processes=Processes(str(built / "bin" / "answer")), files=Files(write=["lib"]))
    opened = Yard(state=state, permits=permits, workspaces={"ana": str(built)})
    try:
        await opened.load("any_program")
        told = await opened.fault("start_in_the_workspace", {"words": [str(built / "bin" / "answer")]})
    finally:
        await opened.close()
    assert told == ("binary_not_allowed", "binary `libouter.so.1` lies where the call could write it")


async def test_a_program_with_libraries_in_a_folder_that_every_jail_reads_and_runs_nothing_from_runs(
    yard: Yard, built: Path
) -> None:
    assert await yard.output("start_listed", {"words": [str(built / "bin" / "among")]}) == "0 42"
    assert "notes.txt" in await yard.output("start_listed", {"words": ["ls", str(AMONG)]})


async def test_a_link_by_way_of_a_folder_that_no_jail_has_runs(yard: Yard) -> None:
    assert await yard.output("start_listed", {"words": ["awk", "BEGIN { print 6 * 7 }"]}) == "0 42"


async def test_a_link_in_a_folder_that_every_jail_has_runs_by_its_own_name(yard: Yard) -> None:
    told = await yard.output("start_listed", {"words": [f"{GIT_CORE}/git-remote-https"]})
    assert "usage: git remote-curl" in told


@pytest.mark.parametrize("name", ["git-http-push", "git-daemon", "git-shell"])
async def test_what_lies_beside_it_and_is_not_listed_does_not_run(yard: Yard, name: str) -> None:
    words = ["git", "-c", f"alias.x=!{GIT_CORE}/{name}", "x"]
    told = await yard.output("start_listed", {"words": words})
    assert not told.startswith("0 ")
    assert (await yard.fault("start_listed", {"words": [f"{GIT_CORE}/git-daemon"]}))[0] == "binary_not_allowed"


async def test_git_works_on_a_repository_of_the_agents(yard: Yard) -> None:
    async def git(*words: str) -> str:
        told: str = await yard.output("start_in_the_workspace", {"words": ["git", "-C", "repo", *words]})
        return told

    assert (await git("init", "--initial-branch=main")).startswith("0 ")
    await git("config", "user.name", "Ana")
    await git("config", "user.email", "ana@agents.example")
    assert (await git("commit", "--allow-empty", "-m", "the first")).startswith("0 ")
    assert (await git("log", "--format=%an: %s")) == "0 Ana: the first"


async def test_git_asks_its_listed_part_for_https_and_that_has_no_way_out(yard: Yard) -> None:
    told = await yard.output("start_listed", {"words": ["git", "ls-remote", "https://git.example/x"]})
    assert "Could not resolve host: git.example" in told
