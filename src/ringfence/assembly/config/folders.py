"""Where the paths of a config file lead: from the file's own folder down, unless they are absolute.

Takes: paths as written.  Gives: absolute paths.  Never: follows a link or touches a file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ringfence.assembly.config.texts import read_store_file

# The key that seals raw output lies beside the signing key, under this name.
RAW_KEY = "raw.key"


def from_root(text: str, *, root: Path) -> Path:
    """One absolute spelling of a path."""
    return Path(os.path.normpath(root / text))


def store_file(values: Mapping[str, Any], *, root: Path) -> Path:
    return from_root(read_store_file(values["store"]["url"]), root=root)


def workspace(agent: str, values: Mapping[str, Any], *, root: Path) -> Path:
    """The agent's folder: the one it names, or its own below the folder of the store."""
    named = values["agents"][agent].get("workspace")
    return from_root(named, root=root) if named else store_file(values, root=root).parent / "work" / agent
