"""The key that seals raw output: made once, kept outside the store, readable by its owner alone.

Takes: a path.  Gives: the seal.  Never: replaces a key, or uses one that others can read.
"""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from ringfence.audit.sealing import KEY_BYTES, Seal
from ringfence.errors import ConfigInvalid


def make_raw_key(path: Path) -> Seal:
    """A new key in a new file that only its owner can read."""
    key = secrets.token_bytes(KEY_BYTES)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(key.hex() + "\n")
    return Seal(key)


def load_seal(path: Path) -> Seal:
    """The seal of the key on disk; made on first use. What an older key sealed names that key."""
    if not path.exists():
        try:
            return make_raw_key(path)
        except FileExistsError:  # another process made it between our look and our try
            return _read(path)
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise ConfigInvalid((f"`{path}` seals raw output and can be read by others; make its mode 0600",))
    return _read(path)


def _read(path: Path) -> Seal:
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii"))
    except (OSError, ValueError) as error:
        raise ConfigInvalid((f"`{path}` cannot be read as a key: {type(error).__name__}",)) from None
    if len(key) != KEY_BYTES:
        raise ConfigInvalid((f"`{path}` is not a key of {KEY_BYTES} bytes",))
    return Seal(key)
