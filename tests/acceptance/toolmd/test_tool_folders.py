"""Tools in any language: a folder with a `TOOL.md` and a program registers, runs in a jail, and is believed no more."""

from __future__ import annotations

import json
import shutil
import subprocess
import zlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ringfence.assembly import open_runtime
from ringfence.errors import RingfenceError
from ringfence.runtime import Completed, Failed, Runtime

pytestmark = pytest.mark.req("CON-11", "CON-13", "SBX-5")

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
LANGUAGES = {"word_count": "sh", "slugify": "node", "checksum": "cc"}

FRONT = """---
kind: tool
schema_version: 1
name: {name}
version: 1
safety_class: write
idempotency: optional
permission_level: none
entrypoint: run
{more}
input_schema: {{type: object, properties: {{}}, additionalProperties: false}}
output_schema: {{type: object, properties: {{n: {{type: integer}}}}, required: [n], additionalProperties: false}}
limits: {{wall_seconds: 25, cpu_seconds: 1, output_kb: 64}}
---
A program under test.
"""


def config(folder: Path, *, tools: Path) -> dict[str, Any]:
    return {
        "version": 1,
        "tools": {"folders": [str(tools)]},
        "people": {"olga": {"roles": ["operator"]}},
        "agents": {
            "ana": {
                "allowed_tools": ["*"],
                "processes": {"allow": ["wc", "tr", "cat", "sleep"]},
                "files": {"write": ["outbox"]},
            }
        },
        "sandbox": {"kind": "local", "limits": {"memory_mb": 512}},
        "store": {"url": f"sqlite:///{folder}/state/ringfence.db"},
        "audit": {"anchor": f"{folder}/state/anchor.log", "signing_key": f"{folder}/state/audit.key"},
    }


def write_tool(folder: Path, name: str, script: str, *, more: str = "") -> None:
    place = folder / "tools" / name
    place.mkdir(parents=True)
    (place / "TOOL.md").write_text(FRONT.format(name=name, more=more), encoding="utf-8")
    (place / "run").write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")


@asynccontextmanager
async def opened(folder: Path, *, tools: Path | None = None) -> AsyncGenerator[Runtime, None]:
    async with open_runtime(config(folder, tools=tools or folder / "tools"), accept_as="olga") as runtime:
        yield runtime


async def came_to(folder: Path, script: str, *, more: str = "") -> Completed | Failed:
    """What a call of a tool with this script comes to."""
    write_tool(folder, "probe", script, more=more)
    async with opened(folder) as runtime:
        outcome = await runtime.session(agent="ana", user="tester").call("probe", {})
    assert isinstance(outcome, Completed | Failed), outcome
    return outcome


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    """The shipped examples, with the one in C compiled."""
    for program in (*LANGUAGES.values(), "env"):
        assert shutil.which(program), f"this test runs tools in sh, Node and C; install `{program}`"
    tools = tmp_path / "tools"
    shutil.copytree(EXAMPLES, tools)
    subprocess.run(["cc", "-O2", "-o", "checksum", "checksum.c"], cwd=tools / "checksum", check=True)
    return tools


async def test_the_shipped_examples_run_in_shell_node_and_c(examples: Path, tmp_path: Path) -> None:
    async with opened(tmp_path, tools=examples) as runtime:
        session = runtime.session(agent="ana", user="tester")
        assert {tool.name for tool in session.view} == set(LANGUAGES)
        told = {
            "word_count": await session.call("word_count", {"text": "hello"}),
            "slugify": await session.call("slugify", {"title": "Grüße aus  Köln!"}),
            "checksum": await session.call("checksum", {"text": "x"}),
        }
    arguments = json.dumps({"text": "x"}, separators=(",", ":")).encode()
    assert {name: outcome.as_dict().get("output") for name, outcome in told.items()} == {
        "word_count": {"characters": len('{"text":"hello"}')},
        "slugify": {"slug": "gru-e-aus-koln"},
        "checksum": {"adler32": zlib.adler32(arguments), "bytes": len(arguments)},
    }


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("echo '{\"n\": 1}'; echo '{\"n\": 2}'", "protocol_error"),
        ("echo not json", "protocol_error"),
        (":", "protocol_error"),
        ('echo \'{"n": "x"}\'', "output_invalid"),
        ('echo \'{"n": 1, "more": 2}\'', "output_invalid"),
        ("echo '{\"n\": 1}'; exit 3", "tool_error"),
        ("echo '{\"n\": 1}'; kill -9 $$", "tool_error"),
        ("while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done", "output_limit"),
        ("while :; do :; done", "cpu_limit"),
        ("read x < /proc/self/fd/3; echo $x", "protocol_error"),
        ("echo '{\"n\": 1}' >&3; exit 0", "protocol_error"),
    ],
)
async def test_a_reply_is_one_document_and_a_clean_end_or_nothing(tmp_path: Path, script: str, code: str) -> None:
    outcome = await came_to(tmp_path, script)
    assert isinstance(outcome, Failed), outcome
    assert outcome.code == code, outcome


async def test_whatever_it_prints_to_standard_error_is_no_reply(tmp_path: Path) -> None:
    outcome = await came_to(tmp_path, "echo '{\"n\": 9}' >&2; echo '{\"n\": 1}'")
    assert isinstance(outcome, Completed), outcome
    assert outcome.output == {"n": 1}


@pytest.mark.parametrize("descriptor", [3, 4, 5, 6])
async def test_it_holds_nothing_but_its_three_streams(tmp_path: Path, descriptor: int) -> None:
    outcome = await came_to(tmp_path, f"echo x 2>/dev/null >&{descriptor} || echo '{{\"n\": 1}}'")
    assert isinstance(outcome, Completed), outcome


async def test_a_daemon_that_holds_the_output_is_no_clean_end(tmp_path: Path) -> None:
    outcome = await came_to(tmp_path, "sleep 1000 & echo '{\"n\": 1}'; exit 0", more="needs: {processes: [sleep]}")
    assert isinstance(outcome, Failed), outcome
    assert outcome.code == "protocol_error", outcome


@pytest.mark.parametrize(
    "script",
    [
        "(echo child) > /tmp/x; read n < /tmp/x; echo '{\"n\": 1}'",
        'x=$(echo 1); [ -n "$x" ] && echo \'{"n": 1}\' || exit 1',
    ],
)
async def test_without_a_list_it_starts_no_other_process(tmp_path: Path, script: str) -> None:
    outcome = await came_to(tmp_path, script)
    assert isinstance(outcome, Failed), outcome


@pytest.mark.parametrize("program", ["/usr/bin/id", "/bin/cat", "/lib64/ld-linux-x86-64.so.2 /bin/cat", "/tool/other"])
async def test_what_is_not_listed_does_not_run(tmp_path: Path, program: str) -> None:
    outcome = await came_to(tmp_path, f"{program} /dev/null && echo '{{\"n\": 1}}'", more="needs: {processes: [wc]}")
    assert isinstance(outcome, Failed), outcome


@pytest.mark.req("SBX-4", "SBX-8")
async def test_files_are_granted_and_measured_as_for_any_tool(tmp_path: Path) -> None:
    outcome = await came_to(
        tmp_path, "echo x > outbox/note && echo '{\"n\": 1}'", more="needs: {files: {write: [outbox]}}"
    )
    assert isinstance(outcome, Completed), outcome
    assert outcome.effects["files"] == {"written": ["outbox/note"], "removed": [], "coverage": "whole"}
    assert (tmp_path / "state" / "work" / "ana" / "outbox" / "note").read_text() == "x\n"


async def test_its_environment_is_the_jails_and_says_who_calls(tmp_path: Path) -> None:
    checked = '[ "$RINGFENCE_AGENT" = ana ] && [ -z "${LD_PRELOAD:-}" ] && [ "$HOME" = /tmp ] && echo \'{"n": 1}\''
    outcome = await came_to(tmp_path, checked)
    assert isinstance(outcome, Completed), outcome


async def test_a_changed_program_is_another_source(tmp_path: Path) -> None:
    write_tool(tmp_path, "probe", "echo '{\"n\": 1}'")
    async with opened(tmp_path) as runtime:
        first = runtime.session(agent="ana", user="t").view.find("probe").source_digest
    (tmp_path / "tools" / "probe" / "run").write_text("#!/bin/sh\necho '{\"n\": 2}'\n", encoding="utf-8")
    async with opened(tmp_path) as runtime:
        session = runtime.session(agent="ana", user="t")
        assert session.view.find("probe").source_digest != first
        outcome = await session.call("probe", {})
    assert isinstance(outcome, Completed), outcome
    assert outcome.output == {"n": 2}


def spoil(place: Path, how: str) -> None:
    """Make a tool's folder none."""
    contract = place / "TOOL.md"
    match how:
        case "no program":
            (place / "run").unlink()
        case "no front matter":
            contract.write_text("no front matter")
        case "an alias":
            contract.write_text("---\na: &x 1\nb: *x\n---\n")
        case "not text":
            contract.write_bytes(b"---\n\xff\n---\n")
        case "a link":
            (place / "link").symlink_to("/etc/passwd")
        case _:
            shutil.rmtree(place)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("no program", "is not in it"),
        ("no front matter", "does not begin with"),
        ("an alias", "not plain YAML"),
        ("not text", "not UTF-8"),
        ("a link", "is a link"),
        ("nothing", "holds no `TOOL.md`"),
    ],
)
async def test_a_folder_that_is_no_tool_opens_no_runtime(tmp_path: Path, how: str, said: str) -> None:
    write_tool(tmp_path, "probe", ":")
    spoil(tmp_path / "tools" / "probe", how)
    with pytest.raises(RingfenceError, match=said):
        async with opened(tmp_path):
            pass
