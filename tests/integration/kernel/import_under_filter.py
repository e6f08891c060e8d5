"""Run by a test in a fresh interpreter: enter a stage first, then import the plain tool and let it work."""

from __future__ import annotations

import importlib
import json
import os
import sys
from types import ModuleType

LIBRARIES = ("pydantic", "asyncio", "ssl", "sqlite3", "zoneinfo", "decimal", "uuid", "tempfile")


def main(source: str, folder: str, stage: str) -> None:
    # The package's front door loads pydantic; a bare package in its place leaves that import to the filter.
    bare = ModuleType("ringfence")
    bare.__path__ = [os.path.join(source, "ringfence")]
    sys.modules["ringfence"] = bare
    from ringfence.kernel import allowlist, limits, seccomp, status

    loaded_before = [name for name in LIBRARIES if name in sys.modules]
    if stage != "none":
        table = allowlist.stage_b() if stage == "b" else allowlist.stage_a(clone_flags=0)
        limits.set_no_new_privileges()
        seccomp.install(seccomp.encode(seccomp.compile_table(table)))
    sys.path.insert(0, os.path.dirname(__file__))
    gave = importlib.import_module("a_plain_tool").work(folder)
    mode = str(status.read_status(os.getpid()).seccomp_mode)
    print(json.dumps({"loaded_before": loaded_before, "mode": mode, "gave": gave}))


main(*sys.argv[1:])
