"""What the pages say about the jail, tried through an open runtime with the shipped defaults."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ringfence.assembly import open_runtime
from ringfence.runtime import Completed

PROBE = '''
"""Tools that try what they did not declare."""
import os
import socket
from pathlib import Path

from ringfence import tool

MARKER = Path({marker!r})
calls = 0
try:
    MARKER.write_text("imported")
except OSError:
    pass


@tool(safety="read")
def reach(file: str, port: int) -> list[str]:
    """Try a file, a folder, a connection and a program."""
    return [name for name, attempt in ATTEMPTS.items() if _works(attempt, file, port)]


@tool(safety="read")
def count() -> int:
    """Count the calls that this process served."""
    global calls
    calls += 1
    return calls


ATTEMPTS = {{
    "read a file": lambda file, port: Path(file).read_text(),
    "write beside it": lambda file, port: Path(file).with_name("loot").write_text("mine"),
    "connect": lambda file, port: socket.create_connection(("127.0.0.1", port), timeout=1).close(),
    "start a program": lambda file, port: os.posix_spawn("/bin/true", ["true"], {{}}),
}}


def _works(attempt, file, port):
    try:
        attempt(file, port)
    except OSError:
        return False
    return True
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_text("a secret of the host")
    (tmp_path / "probe_tools.py").write_text(PROBE.format(marker=str(tmp_path / "marker")))
    return tmp_path


@pytest.fixture
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def unjailed(folder: Path, wanted: dict[str, Any]) -> list[str]:
    """The control: the same function in a plain process, where nothing holds it."""
    program = "import json, sys, probe_tools as p; f = p.reach.implementation.function\n"
    program += "print(json.dumps(f(**json.loads(sys.argv[1]))))"
    words = [sys.executable, "-c", program, json.dumps(wanted)]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=60, check=True)
    reached: list[str] = json.loads(done.stdout)
    return reached


def config(folder: Path) -> dict[str, Any]:
    return {
        "version": 1,
        "tools": {"modules": ["probe_tools"], "path": [str(folder)]},
        "agents": {"ana": {"allowed_tools": ["*"]}},
        "sandbox": {"kind": "local"},
        "store": {"url": f"sqlite:///{folder}/state/ringfence.db"},
        "audit": {"anchor": f"{folder}/state/anchor.log", "signing_key": f"{folder}/state/audit.key"},
    }


async def outputs(folder: Path, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    async with open_runtime(config(folder)) as runtime:
        session = runtime.session(agent="ana")
        outcomes = [await session.call(tool, arguments) for tool, arguments in calls]
    done = [outcome for outcome in outcomes if isinstance(outcome, Completed)]
    assert done == outcomes
    return [outcome.output for outcome in done]


@pytest.mark.req("CON-13")
async def test_a_module_that_a_config_names_is_never_imported_by_the_host(project: Path) -> None:
    await outputs(project, ("count", {}))
    assert "probe_tools" not in sys.modules
    assert not (project / "marker").exists()


@pytest.mark.req("CON-6", "CON-13")
async def test_a_tool_that_declares_nothing_reaches_nothing(project: Path, port: int) -> None:
    wanted = {"file": str(project / "secret.txt"), "port": port}
    assert unjailed(project, wanted) == ["read a file", "write beside it", "connect", "start a program"]
    (project / "loot").unlink()
    (project / "marker").unlink()
    assert await outputs(project, ("reach", wanted)) == [[]]
    assert not (project / "loot").exists()


@pytest.mark.req("CON-13", "SBX-1")
async def test_no_call_finds_what_another_left_in_memory(project: Path) -> None:
    assert await outputs(project, ("count", {}), ("count", {}), ("count", {})) == [1, 1, 1]
