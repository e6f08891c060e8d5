"""Paths that stay beneath a root: opened by the kernel's rule, and named for people.

Takes: a root folder and a path from anybody.  Gives: an open file, or a name, or `PathNotReachable`.
Never: decides by the text of a path; where a name is not there yet, every part that is there is asked of the kernel.
"""

from __future__ import annotations

import errno
import os
import stat
from functools import partial
from pathlib import Path
from typing import IO, Any

from ringfence.errors import PathNotReachable
from ringfence.inside.steps import open_within
from ringfence.kernel.beneath import PLAIN_NAMES, STAY_BENEATH, Resolve

Root = str | os.PathLike[str]

_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
_NAME = os.O_PATH | os.O_NOFOLLOW
_MOST_LINKS = 40
_MOST_BYTES = 4_096
# What the kernel says of a way out, of a way that never ends, and of a file that is no file.
_NO_WAY = {
    errno.EXDEV: "leads out of its root",
    errno.ELOOP: "goes through too many links, or through one that the kernel makes up",
    errno.EAGAIN: "is renamed all the time",
    errno.ENAMETOOLONG: "is too long",
    errno.EINVAL: "is no path",
    errno.ENXIO: "is not a regular file",
}


def safe_resolve(root: Root, path: Root) -> Path:
    """The path's name beneath its root, for refusals and for show; what it names may be another file a moment later."""
    text = _text(path)
    folder = os.open(root, _FOLDER)
    try:
        return Path(_name_of(folder), _named(folder, text))
    except OSError as failure:
        raise PathNotReachable(f"path {text!r} {_why(failure)}") from failure
    finally:
        os.close(folder)


def open_beneath(root: Root, path: Root, mode: str = "rb", *, encoding: str | None = None) -> IO[Any]:
    """Open a regular file beneath a root, as `open` does; a missing one is FileNotFoundError."""
    text = _text(path)
    if "b" not in mode:
        encoding = encoding or "utf-8"
    return open(text, mode, encoding=encoding, opener=partial(_open_regular, root))


def list_beneath(root: Root, path: Root = ".") -> list[str]:
    """The names in a folder beneath a root, in order."""
    descriptor = _open(root, _text(path), os.O_RDONLY | os.O_DIRECTORY)
    try:
        return sorted(os.listdir(descriptor))
    finally:
        os.close(descriptor)


def _open_regular(root: Root, path: str, flags: int) -> int:
    descriptor = _open(root, path, flags | os.O_NONBLOCK | os.O_NOCTTY)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    raise PathNotReachable(f"path {path!r} is not a regular file")


def _open(root: Root, path: str, flags: int) -> int:
    folder = os.open(root, _FOLDER)
    try:
        return open_within(folder, path, flags=flags, mode=0o600 if flags & os.O_CREAT else 0, resolve=STAY_BENEATH)
    except OSError as failure:
        if failure.errno in _NO_WAY:
            raise PathNotReachable(f"path {path!r} {_why(failure)}") from failure
        raise OSError(failure.errno, os.strerror(failure.errno or 0), path) from failure
    finally:
        os.close(folder)


def _text(path: Root) -> str:
    text = os.fspath(path)
    try:
        encoded = os.fsencode(text)
    except UnicodeEncodeError:
        raise PathNotReachable(f"path {text!r} cannot be a file's name") from None
    if not encoded or b"\0" in encoded or len(encoded) >= _MOST_BYTES:
        raise PathNotReachable(f"path {text[:100]!r} is empty, too long, or has a NUL in it")
    return text


def _why(failure: OSError) -> str:
    return _NO_WAY.get(failure.errno or 0) or f"cannot be reached: {os.strerror(failure.errno or 0).lower()}"


def _named(folder: int, path: str) -> str:
    """The kernel's own answer if everything is there, else the answer part by part."""
    try:
        found = open_within(folder, path, flags=os.O_PATH, resolve=STAY_BENEATH)
    except FileNotFoundError:
        return _named_by_parts(folder, path)
    try:
        return os.path.relpath(_name_of(found), _name_of(folder))
    finally:
        os.close(found)


def _named_by_parts(folder: int, path: str) -> str:
    """Every part that is there is opened without following it; a part that is not there has nothing below it yet."""
    settled: list[str] = []
    pending = path.split("/")[::-1]
    links = 0
    if path.startswith("/"):
        raise OSError(errno.EXDEV, "an absolute path")
    while pending:
        part = pending.pop()
        if part in ("", "."):
            continue
        if part == "..":
            if not settled:
                raise OSError(errno.EXDEV, "above the root")
            settled.pop()
            continue
        settled.append(part)
        target = _link_at(folder, "/".join(settled), last=not any(pending))
        if target is not None:
            links += 1
            if target.startswith("/") or links > _MOST_LINKS:
                raise OSError(errno.EXDEV if links <= _MOST_LINKS else errno.ELOOP, "a link")
            settled.pop()
            pending += target.split("/")[::-1]
    return "/".join(settled) or "."


def _link_at(folder: int, path: str, *, last: bool) -> str | None:
    """Where a name points to if it is a link; nothing if it is something else, or not there."""
    try:
        found = open_within(folder, path, flags=_NAME, resolve=PLAIN_NAMES | Resolve.BENEATH)
    except FileNotFoundError:
        return None
    try:
        mode = os.fstat(found).st_mode
        if stat.S_ISLNK(mode):
            return os.readlink("", dir_fd=found)
        if not stat.S_ISDIR(mode) and not last:
            raise NotADirectoryError(errno.ENOTDIR, "not a folder")
        return None
    finally:
        os.close(found)


def _name_of(descriptor: int) -> str:
    return os.readlink(f"/proc/self/fd/{descriptor}")
