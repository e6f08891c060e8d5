"""What every sandbox is given alike: an interpreter, the packages that the probes import, the probes, a scratch folder.

Takes: the project's tree.  Gives: `Ground`, `Call`.  Never: an interpreter that an ordinary user cannot reach.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SYSTEM_PYTHON = "/usr/bin/python3"
PEERS = ROOT / ".venv" / "peers"


@dataclass(frozen=True, kw_only=True)
class Ground:
    """`tools` holds `probes/` and `inside.py`; `state` is a folder that the launcher alone writes."""

    python: str
    packages: Sequence[str]
    tools: str
    state: str

    @property
    def shown(self) -> tuple[str, ...]:
        """What a sandbox shows besides the system, to be read only."""
        prefix = os.path.dirname(os.path.dirname(os.path.realpath(self.python)))
        return (*((prefix,) if not prefix.startswith("/usr") else ()), *self.packages, self.tools)


@dataclass(frozen=True, kw_only=True)
class Call:
    """One try of one probe; `scratch` is an empty folder of the host, made for it alone."""

    number: int
    module: str
    probe: str
    canaries: Mapping[str, Any]
    scratch: str

    def words(self, ground: Ground, *, scratch: str) -> tuple[str, ...]:
        """The command line inside; `scratch` is where the sandbox shows the scratch folder."""
        order = {
            "path": [ground.tools, *ground.packages],
            "scratch": scratch,
            "module": self.module,
            "probe": self.probe,
            "canaries": dict(self.canaries),
        }
        return (ground.python, "-I", "-B", f"{ground.tools}/inside.py", json.dumps(order))


def packages() -> Iterator[str]:
    """Ringfence and its distributions, and nothing of the tests; by their real paths, since sandboxes mount those."""
    yield str(ROOT / "src")
    yield from (os.path.realpath(path) for path in sys.path if path.endswith("-packages"))


def python_for_all() -> str:
    """This interpreter if every user can reach it, or else the system's of the same version."""
    own = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    if all(parent.stat().st_mode & 0o005 == 0o005 for parent in Path(own).parents):
        return own
    asked = subprocess.run(
        [SYSTEM_PYTHON, "-c", "import sys; print(sys.version_info[:2])"], capture_output=True, text=True, check=True
    )
    if asked.stdout.strip() != str(sys.version_info[:2]):
        raise RuntimeError(f"`{SYSTEM_PYTHON}` is not of this interpreter's version, which other users cannot reach")
    return SYSTEM_PYTHON
