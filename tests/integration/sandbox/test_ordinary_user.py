"""A user without privileges gets the same jail: the full posture, on their own uid."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.sandbox import driver
from tests.integration.sandbox.conftest import NOBODY
from tests.integration.sandbox.driver import TOOLS

pytestmark = pytest.mark.req("SBX-2", "SBX-3", "SBX-6", "SBX-9")

SCRIPT = """
import asyncio, json, os, pathlib, sys, tempfile
sys.argv[1:], tools = [], pathlib.Path(tempfile.mkdtemp())
for name, text in json.loads(sys.stdin.readline() if False else {modules!r}).items():
    (tools / name).write_text(text)
namespace = {{"__name__": "driver", "__file__": str(tools / "driver.py")}}
sys.modules["driver"] = type(sys)("driver"); sys.modules["driver"].__dict__.update(namespace)
exec(compile({driver!r}, "driver.py", "exec"), sys.modules["driver"].__dict__)
Yard = sys.modules["driver"].Yard
from ringfence.contract.limits import Limits

async def main():
    yard = Yard(state=pathlib.Path(tempfile.mkdtemp()))
    for module in ("plain", "nosy", "greedy", "forger"):
        await yard.load(module, folder=tools)
    raw = await yard.run("add", {{"a": 1, "b": 2}})
    told = {{
        "reply": json.loads(raw.reply),
        "posture": raw.evidence["posture"],
        "process": raw.evidence["process"],
        "tries": await yard.output("tries"),
        "surroundings": await yard.output("surroundings"),
        "remembered": [await yard.output("remember", {{"word": word}}) for word in ("one", "two")],
        "random": [(await yard.output("chance"))[1] for _ in range(3)],
        "threads": await yard.output("threads", {{"wanted": 200}}),
        "faults": [
            (await yard.fault(tool, arguments, limits=Limits(cpu_seconds=1, wall_seconds=20, memory_mb=96, disk_mb=4)))[0]
            for tool, arguments in (
                ("spin", {{}}), ("swallow_memory", {{}}), ("fill_the_disk", {{}}), ("start_threads", {{}}),
                ("forge_then_return", {{"what": "early"}}), ("broken", {{"text": "x"}}),
            )
        ],
        "peak": raw.effects.peak_memory_bytes > 1 << 20,
    }}
    await yard.close()
    told["left"] = [name for name in os.listdir("/proc") if name.isdigit() and _mine(name)]
    print(json.dumps(told))

def _mine(name):
    try:
        return os.stat("/proc/" + name).st_uid == os.getuid() and int(name) != os.getpid()
    except OSError:
        return False

asyncio.run(main())
"""


def test_an_ordinary_user_gets_the_full_posture(ordinary_user_python: Callable[..., str]) -> None:
    modules = {path.name: path.read_text() for path in TOOLS.glob("*.py")}
    script = SCRIPT.format(modules=json.dumps(modules), driver=Path(driver.__file__).read_text())
    told = json.loads(ordinary_user_python(script))
    process, surroundings = told.pop("process"), told.pop("surroundings")
    random = told.pop("random")
    tries = told.pop("tries")
    assert told == {
        "reply": 3,
        "posture": "full",
        "remembered": [["", ""], ["", ""]],
        "threads": 63,
        "faults": ["cpu_limit", "memory_limit", "disk_limit", "pids_limit", "protocol_error", "tool_error"],
        "peak": True,
        "left": [],
    }
    assert len(set(random)) == 3
    assert {name for name, outcome in tries.items() if outcome == "done"} == {"private memory", "write inside"}
    assert (process["uid"], process["uid_map"], process["capabilities"]) == (NOBODY, f"1000 {NOBODY} 1", "0")
    assert (process["seccomp"], process["no_new_privileges"], process["pids"][-1]) == (2, 1, 1)
    assert surroundings["processes"] == ["1"]
    assert surroundings["ids"] == ["1", "0", "1000", "1000", "[]"]
