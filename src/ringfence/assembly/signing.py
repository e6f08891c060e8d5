"""The key that signs the trail: made once, kept outside the store, readable by its owner alone.

Takes: a path.  Gives: the key.  Never: replaces a key that a trail was already signed with.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from ringfence.errors import ConfigInvalid


def make_signing_key(path: Path) -> Ed25519PrivateKey:
    """A new key in a new file that only its owner can read."""
    key = Ed25519PrivateKey.generate()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return key


def load_signing_key(path: Path, *, store: Path) -> Ed25519PrivateKey:
    """The key on disk; made on first use, when there is no store yet that an older key has signed."""
    if not path.exists():
        if store.exists():
            raise ConfigInvalid((f"`audit.signing_key`: `{path}` is missing, and the store was signed with it",))
        return _made_once(path)
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise ConfigInvalid((f"`audit.signing_key`: `{path}` can be read by others; make its mode 0600",))
    return _read(path)


def _made_once(path: Path) -> Ed25519PrivateKey:
    try:
        return make_signing_key(path)
    except FileExistsError:  # another process made it between our look and our try
        return _read(path)


def _read(path: Path) -> Ed25519PrivateKey:
    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except (OSError, ValueError) as error:
        raise ConfigInvalid(
            (f"`audit.signing_key`: `{path}` cannot be read as a key: {type(error).__name__}",)
        ) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise ConfigInvalid((f"`audit.signing_key`: `{path}` is not an Ed25519 key",))
    return key
