"""What a runtime keeps for itself: its store, its keys, its config and its secrets, out of every agent's reach.

Takes: a config.  Gives: the `Floor` of the local jail.  Never: leaves one of its own files out.
"""

from __future__ import annotations

import os

from ringfence.assembly.config import Config
from ringfence.sandbox.floor import Floor


def floor_of(config: Config) -> Floor:
    """The floor with this config's own files on it, each by its real name."""
    own = {
        config.state: "the state folder",
        config.store_file: "the store",
        config.audit.signing_key: "the key that signs the trail",
        config.audit.anchor: "the trail's anchor",
    }
    if config.file is not None:
        own[config.file] = "the config file"
    own |= {config.root / p.at: "a secret" for p in config.secrets.values() if p.kind in ("file", "directory")}
    return Floor(
        own={os.path.realpath(path): reason for path, reason in own.items()},
        workspaces=os.path.realpath(config.state / "work"),
    )
