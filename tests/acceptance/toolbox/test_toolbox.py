"""The toolbox in real jails: each tool does what it says, for the agent that calls, and nothing else."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

import ringfence.tools
from ringfence.assembly import open_runtime
from ringfence.errors import DeclarationRefused
from ringfence.runtime import Completed, Failed
from ringfence.sandbox import library
from tests.acceptance.spine.household import config
from tests.acceptance.toolbox.household_of import MODULE, Desk, open_desk

pytestmark = [pytest.mark.req("OPS-9"), pytest.mark.asyncio(loop_scope="module")]

NAMES = ["fetch_url", "read_file", "run_command", "run_python", "search_files", "write_file"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Desk]:
    async with open_desk(tmp_path_factory.mktemp("desk")) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hurried(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Desk]:
    """Where the operator gives less time than the tools would take."""
    limits = {"wall_seconds": 4, "cpu_seconds": 1}
    async with open_desk(tmp_path_factory.mktemp("hurried"), limits=limits) as opened:
        yield opened


async def test_all_six_are_seen_with_their_classes(desk: Desk) -> None:
    view = desk.runtime.session(agent="ana", user="ulla").view
    classes = {tool.name: (tool.safety.value, tool.egress.value) for tool in view}
    assert classes == {
        "fetch_url": ("read", "read_only"),
        "read_file": ("read", "none"),
        "run_command": ("write", "none"),
        "run_python": ("read", "none"),
        "search_files": ("read", "none"),
        "write_file": ("write", "none"),
    }
    assert sorted(classes) == NAMES == sorted(ringfence.tools.__all__)


async def test_files_are_read_searched_and_written_where_they_were_granted(desk: Desk) -> None:
    assert (await desk.output("read_file", path="notes/a.md"))["text"] == "hello\na refund\n"
    found = await desk.output("search_files", pattern="refund")
    assert [(each["path"], each["line"]) for each in found["matches"]] == [("notes/a.md", 2)]
    by_expression = await desk.output("search_files", pattern="ref.nd$", kind="expression", folder="notes")
    assert len(by_expression["matches"]) == 1
    outcome = await desk.call("write_file", path="out/deep/b.md", text="written")
    assert isinstance(outcome, Completed)
    assert outcome.effects["files"]["written"] == ["out/deep/b.md"]
    assert (desk.workspace / "out/deep/b.md").read_text() == "written"


@pytest.mark.req("SBX-4")
@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "private/key.txt", "notes/../private/key.txt", "notes/link"])
async def test_what_was_not_granted_is_not_reachable(desk: Desk, path: str) -> None:
    link = desk.workspace / "notes/link"
    if not link.is_symlink():
        link.symlink_to("../private/key.txt")
    assert await desk.code("read_file", path=path) == "path_not_reachable"
    assert await desk.code("write_file", path=path, text="x", mode="replace") == "path_not_reachable"
    assert (desk.workspace / "private/key.txt").read_text() == "a secret refund\n"


@pytest.mark.req("SBX-4")
@pytest.mark.parametrize("folder", ["..", "/", "private", "notes/../private"])
async def test_what_was_not_granted_is_not_searched(desk: Desk, folder: str) -> None:
    assert await desk.code("search_files", pattern="secret", folder=folder) == "path_not_reachable"
    assert (await desk.output("search_files", pattern="secret"))["matches"] == []


@pytest.mark.req("IDM-3")
async def test_a_write_that_was_refused_wrote_nothing_and_leaves_no_doubt(desk: Desk) -> None:
    kept = desk.workspace / "out/kept.md"
    kept.parent.mkdir(exist_ok=True)
    kept.write_text("mine")
    outcome = await desk.call("write_file", path="out/kept.md", text="yours")
    assert isinstance(outcome, Failed)
    assert (outcome.code, outcome.effects["files"]["written"]) == ("input_invalid", [])
    assert "is there already; use another path" in outcome.message


async def test_code_is_run_and_an_error_of_it_is_an_answer(desk: Desk) -> None:
    ran = await desk.output("run_python", code="import statistics\nprint('hi')\nstatistics.median([3, 1, 2])")
    assert ran == {"stdout": "hi\n", "value": "2", "error": None, "cut": False}
    failed = await desk.output("run_python", code="1 / 0")
    assert failed["error"].endswith("ZeroDivisionError: division by zero\n")


ATTEMPTS = {
    "a file of the machine": "open('/etc/shadow').read()",
    "a file of the agent": "open('{workspace}/notes/a.md').read()",
    "the state folder": "open('{workspace}/../state/audit.key', 'rb').read()",
    "a write": "open('/usr/lib/x', 'w').write('x')",
    "a connection": "import socket; socket.create_connection(('192.0.2.1', 443), timeout=1)",
    "a program": "import subprocess; subprocess.run(['/bin/true'], check=True)",
    "a process": "import os; os.fork()",
    "another process": "import os; os.kill(os.getppid() or 2, 9)",
    "the kernel": "import ctypes; r = ctypes.CDLL(None, use_errno=True).unshare(0x10000000); assert r == 0, 'refused'",
}


@pytest.mark.req("CON-6", "SBX-3")
@pytest.mark.parametrize("attempt", ATTEMPTS.values(), ids=ATTEMPTS)
async def test_code_reaches_nothing(desk: Desk, attempt: str) -> None:
    ran = await desk.output("run_python", code=attempt.replace("{workspace}", str(desk.workspace)))
    assert ran["error"] is not None
    assert "Error" in ran["error"].splitlines()[-1]


@pytest.mark.req("SBX-2")
async def test_code_leaves_nothing_for_the_next(desk: Desk) -> None:
    await desk.output("run_python", code="import builtins; builtins.mark = 1; open('/tmp/mark', 'w').write('x')")
    ran = await desk.output(
        "run_python", code="import builtins, os; hasattr(builtins, 'mark'), os.path.exists('/tmp/mark')"
    )
    assert ran["value"] == "(False, False)"


@pytest.mark.req("SBX-3")
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("while True: pass", "cpu_limit"),
        ("import time; time.sleep(60)", "wall_limit"),
        ("import os; os._exit(0)", "protocol_error"),
        ("import os\nwhile True: os.write(1, b'x' * 65536)", "output_limit"),
        ("import os; os.write(3, b'forged')", "protocol_error"),
    ],
)
async def test_code_without_an_end_is_ended(hurried: Desk, code: str, expected: str) -> None:
    assert await hurried.code("run_python", code=code) == expected


async def test_memory_beyond_its_limit_is_an_error_of_the_code(desk: Desk) -> None:
    ran = await desk.output("run_python", code="x = bytearray(2_000_000_000)")
    assert ran["error"].endswith("MemoryError\n")


@pytest.mark.req("SBX-5", "SBX-8")
async def test_a_listed_program_runs_in_the_workspace(desk: Desk) -> None:
    outcome = await desk.call("run_command", program="wc", arguments=["-l", "notes/a.md"])
    assert isinstance(outcome, Completed)
    assert outcome.output == {"code": 0, "stdout": "2 notes/a.md\n", "stderr": "", "cut": False}
    assert outcome.effects["processes"] == {"started": 1}
    assert (await desk.output("run_command", program="cat", stdin="typed"))["stdout"] == "typed"
    failed = await desk.output("run_command", program="cat", arguments=["private/key.txt"])
    assert (failed["code"], failed["stdout"]) == (1, "")


@pytest.mark.req("SBX-5")
@pytest.mark.parametrize("program", ["sh", "/usr/bin/id", "wc; id", "wc\nid", "$(id)", "../usr/bin/id", "WC"])
async def test_what_the_agent_does_not_list_does_not_run(desk: Desk, program: str) -> None:
    assert await desk.code("run_command", program=program) == "binary_not_allowed"


@pytest.mark.req("SBX-5")
async def test_no_shell_reads_the_arguments(desk: Desk) -> None:
    words = ["; id", "$(id)", "`id`", "| id", "&& id", "> out/made", "*", "~", "$HOME", "\n id"]
    told = await desk.output("run_command", program="cat", arguments=["--", *words])
    assert (told["code"], told["stdout"]) == (1, "")
    assert "uid=" not in told["stderr"]
    assert all(word in told["stderr"] for word in ("; id", "$(id)", "| id", "$HOME"))
    assert not (desk.workspace / "out/made").exists()


async def test_a_program_that_does_not_end_is_ended_and_its_output_is_bounded(desk: Desk) -> None:
    outcome = await desk.call("run_command", program="sleep", arguments=["600"], seconds=1)
    assert isinstance(outcome, Failed)
    assert outcome.message == "`sleep` did not end within 1 seconds; give it less to do, or more `seconds`"
    (desk.workspace / "notes/large.txt").write_text("x" * 1_000_000)
    large = await desk.output("run_command", program="cat", arguments=["notes/large.txt"])
    assert (len(large["stdout"]) <= 200_000, large["cut"]) == (True, True)
    (desk.workspace / "notes/large.txt").unlink()


@pytest.mark.req("NET-1")
async def test_a_page_of_an_unlisted_host_is_not_fetched(desk: Desk) -> None:
    assert await desk.code("fetch_url", url="https://evil.example/?q=1") == "host_not_allowed"


@pytest.mark.req("CON-3")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("fetch_url", {"url": "file:///etc/passwd"}),
        ("fetch_url", {"url": "https://a b"}),
        ("read_file", {"path": "a\0b"}),
        ("read_file", {"path": ""}),
        ("read_file", {"path": "a", "lines": 0}),
        ("read_file", {"path": "a", "lines": 10**9}),
        ("write_file", {"path": "out/a", "text": "x", "mode": "w"}),
        ("search_files", {"pattern": ""}),
        ("search_files", {"pattern": "x" * 501}),
        ("run_command", {"program": "wc", "arguments": "-l notes"}),
        ("run_command", {"program": "wc", "arguments": ["a\0b"]}),
        ("run_command", {"program": "wc", "seconds": 10_000}),
        ("run_python", {"code": "x" * 50_001}),
        ("run_python", {"code": "1", "network": True}),
    ],
)
async def test_arguments_that_do_not_fit_never_reach_a_jail(desk: Desk, tool: str, arguments: dict[str, Any]) -> None:
    assert await desk.code(tool, **arguments) == "input_invalid"


@pytest.mark.req("VIEW-4")
async def test_an_agent_that_lists_nothing_has_python_and_nothing_else(tmp_path: Path) -> None:
    nothing: dict[str, Any] = {"files": {}, "network": {"allow": []}, "processes": {"allow": []}}
    async with open_desk(tmp_path, **nothing) as desk:
        status = await desk.runtime.status("ana")
        assert [tool.name for tool in desk.runtime.session(agent="ana", user="ulla").view] == ["run_python"]
        hidden = {each.tool: each.message for each in status.hidden}
    assert "binaries are the agent's to list, and the agent's `processes.allow` lists none" in hidden["run_command"]
    assert hidden["write_file"] == "paths to write are the agent's to list, and the agent's `files` lists none to write"
    assert hidden["fetch_url"] == "hosts are the agent's to list, and the agent's `network.allow` lists none"


@pytest.mark.req("CON-13")
async def test_tools_of_it_can_be_handed_over_in_code(tmp_path: Path) -> None:
    settings = config(tmp_path, sandbox={"kind": "local"})
    async with open_runtime(settings, tools=[ringfence.tools.run_python]) as runtime:
        session = runtime.session(agent="ana", user="ulla")
        assert [tool.name for tool in session.view] == ["run_python"]
        outcome = await session.call("run_python", {"code": "6 * 7"})
        assert isinstance(outcome, Completed)
        assert outcome.output["value"] == "42"


@pytest.mark.req("CON-13")
async def test_what_runs_is_the_kept_copy(desk: Desk) -> None:
    ran = await desk.output("run_python", code="import ringfence.tools; ringfence.tools.__file__")
    assert ran["value"] == "'/tool/ringfence/tools/__init__.py'"


@pytest.mark.req("CON-13")
async def test_a_folder_of_the_same_name_does_not_take_its_place(tmp_path: Path) -> None:
    (tmp_path / "ringfence/tools").mkdir(parents=True)
    (tmp_path / "ringfence/__init__.py").write_text("")
    (tmp_path / "ringfence/tools/__init__.py").write_text("raise SystemExit('planted')")
    settings = config(tmp_path, tools={"modules": [MODULE], "path": [str(tmp_path)]}, sandbox={"kind": "local"})
    async with open_runtime(settings, accept_as="bob") as runtime:
        assert "run_python" in [tool.name for tool in runtime.session(agent="ana", user="ulla").view]


@pytest.mark.req("CON-13")
@pytest.mark.parametrize("module", ["ringfence", "ringfence.errors", "ringfence.cli.main", "ringfence.tools.none"])
async def test_nothing_else_of_ringfence_holds_tools(tmp_path: Path, module: str) -> None:
    settings = config(tmp_path, tools={"modules": [module]}, sandbox={"kind": "local"})
    with pytest.raises(DeclarationRefused, match="holds no tools"):
        async with open_runtime(settings):
            pass


@pytest.mark.req("SBX-10")
async def test_folders_of_libraries_are_never_read_on_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readers: list[threading.Thread] = []
    listed = library._entries  # pyright: ignore[reportPrivateUsage]

    def entries(folder: str) -> Any:
        readers.append(threading.current_thread())
        return listed(folder)

    monkeypatch.setattr(library, "_entries", entries)
    monkeypatch.setattr(library, "_found", dict[str, Any]())
    async with open_desk(tmp_path) as desk:
        await desk.output("run_command", program="wc", arguments=["notes/a.md"])
    assert readers
    assert threading.main_thread() not in readers
