"""Runs in a sandbox, any sandbox: imports one probe, tries it, prints what it came to.

Takes: an order as JSON in its one argument.  Gives: a line when it is about to try, a line with what came of it.
Never: imports anything of this folder; in a sandbox there is only this file, the probes and what they import.
"""

from __future__ import annotations

import errno
import importlib
import json
import os
import sys
import tempfile
from typing import Any

# The launcher reads these; whatever else a probe or its children print is no answer.
ABOUT_TO_TRY, CAME_TO = "@about to try", "@came to "


def main() -> None:
    order = json.loads(sys.argv[1])
    sys.path[:0] = order["path"]
    os.chdir(order["scratch"])
    # A sandbox in which nothing can be written would stop many a probe for the wrong reason.
    with tempfile.TemporaryFile(dir="."):
        pass
    probe = getattr(importlib.import_module(f"probes.{order['module']}"), order["probe"])
    canaries = importlib.import_module("probes.attempt").Canaries(**order["canaries"])
    _say(ABOUT_TO_TRY)
    _say(CAME_TO + json.dumps(_tried(probe.implementation.function, canaries)))
    # Threads and children that a probe left behind must not hold up its answer.
    os._exit(0)


def _tried(probe: Any, canaries: Any) -> dict[str, str]:
    try:
        told: dict[str, str] = probe(canaries).model_dump()
    except MemoryError:
        return {"outcome": "stopped", "detail": "ENOMEM"}
    except OSError as failure:
        return {"outcome": "stopped", "detail": errno.errorcode.get(failure.errno or 0, repr(failure))}
    except Exception as failure:
        return {"outcome": "raised", "detail": repr(failure)}
    return told


def _say(line: str) -> None:
    os.write(1, f"\n{line}\n".encode())


if __name__ == "__main__":
    main()
