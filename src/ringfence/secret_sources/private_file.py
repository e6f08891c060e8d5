"""Reads and writes a file that only its owner may open.

Takes: a path.  Gives: the text in it, and which version of the file it was.
Never: reads a file that others can read, or that lies in a folder where others could put another in its place.
"""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from ringfence.execution.secrets import Fetched, SecretUnavailable, SecretValue

_MOST_BYTES = 65_536
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def read_private(path: Path, *, name: str) -> Fetched:
    """The value in the file, without the line end that editors put after it."""
    require_guarded_folder(path.parent)
    try:
        # Without waiting: a pipe has nobody at its other end.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError as error:
        raise SecretUnavailable(f"`{path}` cannot be opened: {_why(error)}") from None
    try:
        seen = os.fstat(descriptor)
        _require_private(seen, path=path)
        return Fetched(value=_value(os.read(descriptor, _MOST_BYTES + 1), name=name, path=path), version=_version(seen))
    finally:
        os.close(descriptor)


def write_private(path: Path, value: SecretValue) -> None:
    """Replace the file in one step by one that only its owner can read."""
    require_guarded_folder(path.parent)
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(value.revealed().encode() + b"\n")
            file.flush()
            os.fsync(descriptor)
        fresh.replace(path)
    except OSError as error:
        raise SecretUnavailable(f"`{path}` cannot be written: {_why(error)}") from None
    finally:
        with suppress(FileNotFoundError):
            fresh.unlink()


def require_guarded_folder(folder: Path) -> None:
    """Whoever can write to the folder can swap the file; a sticky folder keeps others from that."""
    try:
        seen = folder.stat()
    except OSError as error:
        raise SecretUnavailable(f"the folder `{folder}` cannot be looked at: {_why(error)}") from None
    if seen.st_uid not in trusted_owners():
        raise SecretUnavailable(f"the folder `{folder}` belongs to somebody else", remedy="`chown` it")
    if seen.st_mode & _OTHERS_WRITE and not seen.st_mode & stat.S_ISVTX:
        raise SecretUnavailable(f"others can write to the folder `{folder}`", remedy="`chmod go-w` it")


def trusted_owners() -> tuple[int, int]:
    """Root can read everything anyhow."""
    return (0, os.geteuid())


def _require_private(seen: os.stat_result, *, path: Path) -> None:
    if not stat.S_ISREG(seen.st_mode):
        raise SecretUnavailable(f"`{path}` is not a regular file")
    if seen.st_uid not in trusted_owners():
        raise SecretUnavailable(f"`{path}` belongs to somebody else", remedy="`chown` it")
    if seen.st_mode & _OTHERS:
        raise SecretUnavailable(f"`{path}` is open to others than its owner", remedy="`chmod 600` it")


def _value(raw: bytes, *, name: str, path: Path) -> SecretValue:
    if len(raw) > _MOST_BYTES or not _is_text(raw):
        # Let go before the error is raised: a traceback can show what its frames still hold.
        del raw
        raise SecretUnavailable(f"`{path}` holds no text of at most {_MOST_BYTES} bytes")
    return SecretValue(name, raw.decode().removesuffix("\n").removesuffix("\r"))


def _is_text(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _version(seen: os.stat_result) -> str:
    return f"{seen.st_ino}.{seen.st_mtime_ns}"


def _why(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()
