"""Which files of the agent's workspace a call gets: each found on disk, known by its identity, and held to the floor.

Takes: a `Files` grant and a workspace.  Gives: `Granted` values for a blueprint, or `path_not_reachable`.
Never: follows a link out of the workspace, and never believes a name for longer than one call.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import suppress

from ringfence.contract.capabilities import Files, FromAgent, Paths
from ringfence.contract.paths import beneath
from ringfence.errors import CallRefused
from ringfence.inside.layout import WORKSPACE, Access, Granted, identity_of
from ringfence.kernel.beneath import STAY_BENEATH, open_at
from ringfence.sandbox.floor import Floor

_FOLDER_MODE = 0o700
_REMEDY = "name a narrower path in the agent's `files`, or another `workspace`"


def resolve_files(files: Files, *, workspace: str, floor: Floor) -> tuple[Granted, ...]:
    """Every granted path that exists; a folder that may be written is made, one that may be read can be missing."""
    try:
        root = os.open(workspace, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as failure:
        raise _unreachable(".", f"the workspace cannot be opened: {_said(failure)}") from None
    try:
        found = [_found(root, path, access=access) for path, access in _outermost(files)]
    finally:
        os.close(root)
    granted = tuple(each for each in found if each is not None)
    for each in granted:
        objection = floor.objection(each.source)
        if objection is not None:
            raise _unreachable(each.path.removeprefix(f"{WORKSPACE}/"), f"can never be granted: {objection}")
    return granted


def _outermost(files: Files) -> Iterator[tuple[str, Access]]:
    """Each path once: what lies below a granted one is part of it, unless it may be written and that one only read."""
    reads, writes = _listed(files.read), _listed(files.write)
    for path in sorted(writes):
        if not any(path != other and beneath(path, root=other) for other in writes):
            yield path, "write"
    for path in sorted(reads):
        inside_a_write = any(beneath(path, root=other) for other in writes)
        inside_a_read = any(path != other and beneath(path, root=other) for other in reads)
        if not inside_a_write and not inside_a_read:
            yield path, "read"


def _listed(paths: Paths) -> frozenset[str]:
    if isinstance(paths, FromAgent):
        raise _unreachable("FROM_AGENT", "names no path until an agent's own are put in its place")
    return frozenset(paths)


def _found(root: int, path: str, *, access: Access) -> Granted | None:
    try:
        descriptor = _open(root, path, access=access)
    except FileNotFoundError:
        return None
    except OSError as failure:
        why = "leads out of the workspace" if failure.errno in (errno.EXDEV, errno.ELOOP) else _said(failure)
        raise _unreachable(path, why) from None
    try:
        seen = os.fstat(descriptor)
        if not (stat.S_ISREG(seen.st_mode) or stat.S_ISDIR(seen.st_mode)):
            raise _unreachable(path, "is neither a file nor a folder")
        source = os.readlink(f"/proc/self/fd/{descriptor}")
        place = WORKSPACE if path == "." else f"{WORKSPACE}/{path}"
        return Granted(path=place, source=source, identity=identity_of(seen), access=access)
    finally:
        os.close(descriptor)


def _open(root: int, path: str, *, access: Access) -> int:
    try:
        return open_at(root, path, flags=os.O_PATH, resolve=STAY_BENEATH)
    except FileNotFoundError:
        if access == "read":
            raise
        _make(root, path)
        return open_at(root, path, flags=os.O_PATH, resolve=STAY_BENEATH)


def _make(root: int, path: str) -> None:
    """A folder and the folders above it, each made in one that was opened beneath the workspace."""
    above = "."
    for part in path.split("/"):
        folder = open_at(root, above, flags=os.O_PATH | os.O_DIRECTORY, resolve=STAY_BENEATH)
        try:
            with suppress(FileExistsError):
                os.mkdir(part, mode=_FOLDER_MODE, dir_fd=folder)
                _give_to_the_owner_of(folder, part)
        finally:
            os.close(folder)
        above = f"{above}/{part}"


def _give_to_the_owner_of(folder: int, name: str) -> None:
    if os.geteuid() == 0:
        owner = os.fstat(folder)
        os.chown(name, owner.st_uid, owner.st_gid, dir_fd=folder, follow_symlinks=False)


def _said(failure: OSError) -> str:
    return os.strerror(failure.errno or 0).lower()


def _unreachable(path: str, why: str) -> CallRefused:
    return CallRefused(f"path `{path}` {why}", code="path_not_reachable", remedy=_REMEDY)
