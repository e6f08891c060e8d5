"""A process sees the files it was given and no others: a fresh root, read-only pieces of the old one, nothing beneath.

Takes: paths and mount descriptors.  Gives: descriptors of detached trees.  Never: mounts a block device, or leaves
the old root reachable.

Preconditions: the caller has its own mount namespace, and `make_private` was called before anything else.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntFlag
from typing import Literal

from ringfence.kernel.syscalls import call, open_here


class Attribute(IntFlag):
    """What a mount refuses."""

    READ_ONLY = 0x1
    NO_SETUID = 0x2
    NO_DEVICES = 0x4
    NO_EXECUTE = 0x8
    NO_SYMLINKS = 0x20_0000


READ_ONLY_TREE = Attribute.READ_ONLY | Attribute.NO_SETUID | Attribute.NO_DEVICES
# A device takes writes on a read-only mount too; its own times and rights are the whole machine's and stay.
DEVICE_FILE = Attribute.READ_ONLY | Attribute.NO_SETUID | Attribute.NO_EXECUTE

# What an agent's own folder refuses in a jail: nothing there is a device, a program, or raises a privilege.
FOR_READING = Attribute.READ_ONLY | Attribute.NO_SETUID | Attribute.NO_DEVICES | Attribute.NO_EXECUTE
FOR_WRITING = Attribute.NO_SETUID | Attribute.NO_DEVICES | Attribute.NO_EXECUTE

# mount(2) spells the first four attributes with the same bits; a filter can therefore admit these exact values.
SCRATCH_FLAGS = int(Attribute.NO_SETUID | Attribute.NO_DEVICES)
NO_CODE_FLAGS = PROC_FLAGS = int(Attribute.NO_SETUID | Attribute.NO_DEVICES | Attribute.NO_EXECUTE)

_AT_FDCWD = -100
_AT_EMPTY_PATH = 0x1000
_AT_RECURSIVE = 0x8000
_OPEN_TREE_CLONE = 0x1
_OPEN_TREE_CLOEXEC = os.O_CLOEXEC
_MOVE_MOUNT_F_EMPTY_PATH = 0x4
_MOVE_MOUNT_T_EMPTY_PATH = 0x40
_MOUNT_ATTR_IDMAP = 0x10_0000
_MS_PRIVATE = 0x4_0000
BIND_FLAGS = 0x1000 | 0x4000  # MS_BIND | MS_REC
_MNT_DETACH = 0x2
_FOLDER_MODE = 0o755


def make_private(target: str = "/") -> None:
    """Cut the mount namespace off from the one it was copied from, in both directions."""
    _set_attributes(_AT_FDCWD, path=target, flags=_AT_RECURSIVE, propagation=_MS_PRIVATE)


def clone_tree(path: str) -> int:
    """A detached copy of everything mounted at and below `path`, as a descriptor."""
    flags = _OPEN_TREE_CLONE | _OPEN_TREE_CLOEXEC | _AT_RECURSIVE
    return call("open_tree", _AT_FDCWD, os.fsencode(path), flags)


def clone_tree_of(descriptor: int) -> int:
    """The same, of what a descriptor holds, whatever its name is by now."""
    flags = _OPEN_TREE_CLONE | _OPEN_TREE_CLOEXEC | _AT_RECURSIVE | _AT_EMPTY_PATH
    return call("open_tree", descriptor, b"", flags)


def keep_private(tree: int) -> None:
    """Let no mount that is made at the original appear in the copy, or the other way round."""
    _set_attributes(tree, path="", flags=_AT_EMPTY_PATH | _AT_RECURSIVE, propagation=_MS_PRIVATE)


def restrict_tree(tree: int, *, attributes: Attribute) -> None:
    """Set attributes on every mount of a detached tree."""
    _set_attributes(tree, path="", flags=_AT_EMPTY_PATH | _AT_RECURSIVE, attributes=attributes)


def map_owners(tree: int, *, user_namespace: int) -> None:
    """Show a detached tree's owners as that user namespace maps them; needs privilege over the file system."""
    _set_attributes(
        tree,
        path="",
        flags=_AT_EMPTY_PATH | _AT_RECURSIVE,
        attributes=_MOUNT_ATTR_IDMAP,
        user_namespace=user_namespace,
    )


def attach(tree: int, *, target: str) -> None:
    """Put a detached tree where the caller can reach it; the descriptor stays open."""
    call("move_mount", tree, b"", _AT_FDCWD, os.fsencode(target), _MOVE_MOUNT_F_EMPTY_PATH)


def attach_at(tree: int, *, place: int) -> None:
    """Put a detached tree over what a descriptor holds; the descriptors stay open."""
    call("move_mount", tree, b"", place, b"", _MOVE_MOUNT_F_EMPTY_PATH | _MOVE_MOUNT_T_EMPTY_PATH)


def mount_scratch(
    target: str, *, size_bytes: int, inodes: int, mode: int = 0o755, code: Literal["allowed", "refused"] = "allowed"
) -> None:
    """A fresh memory file system, bounded in bytes and in files; where code is refused, nothing there can be run."""
    options = f"size={size_bytes},nr_inodes={inodes},mode={mode:o}"
    flags = SCRATCH_FLAGS if code == "allowed" else NO_CODE_FLAGS
    call("mount", b"scratch", os.fsencode(target), b"tmpfs", flags, options.encode())


@dataclass(frozen=True, kw_only=True)
class Covered:
    """What a later mount will cover, held open so that it can be shown again."""

    path: str
    descriptor: int
    kind: Literal["folder", "file"]


def hold(path: str) -> Covered:
    """Take hold of a file or folder before something is mounted over it."""
    kind: Literal["folder", "file"] = "folder" if os.path.isdir(path) else "file"
    return Covered(path=path, descriptor=open_here(path, flags=os.O_PATH | os.O_CLOEXEC), kind=kind)


def bind_again(held: Iterable[Covered], *, below: str) -> None:
    """Show files and folders at their old paths below a mount that has nothing yet; they keep their attributes."""
    folders, shown = {below}, set[str]()
    for each in held:
        if not any(each.path.startswith(f"{other}/") for other in shown):
            _make_place(each, folders=folders)
        source = f"/proc/self/fd/{each.descriptor}".encode()
        call("mount", source, os.fsencode(each.path), None, BIND_FLAGS, None)
        call("close", each.descriptor)
        shown.add(each.path)


def _make_place(covered: Covered, *, folders: set[str]) -> None:
    if covered.kind == "folder":
        _make_folder(covered.path, folders=folders)
        return
    _make_folder(os.path.dirname(covered.path), folders=folders)
    call("close", open_here(covered.path, flags=os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC))


def _make_folder(path: str, *, folders: set[str]) -> None:
    """The folder, and those above it that are not there yet."""
    if path not in folders:
        _make_folder(os.path.dirname(path), folders=folders)
        call("mkdir", os.fsencode(path), _FOLDER_MODE)
        folders.add(path)


def mount_proc(target: str) -> None:
    """A fresh /proc that shows processes only: this form nests, a masked full one does not."""
    call("mount", b"proc", os.fsencode(target), b"proc", PROC_FLAGS, b"subset=pid")


def make_read_only(target: str) -> None:
    """Turn one mount read-only where it stands; what is mounted below it keeps its own attributes."""
    _set_attributes(_AT_FDCWD, path=target, flags=0, attributes=Attribute.READ_ONLY)


def enter_root(path: str) -> None:
    """Make `path` the root and let go of the old one: nothing of it has a name afterwards."""
    os.chdir(path)
    # Both names are ".": the old root is stacked on the new one, so no empty folder is needed to hold it.
    call("pivot_root", b".", b".")
    call("umount2", b".", _MNT_DETACH)
    os.chdir("/")


def _set_attributes(
    descriptor: int, *, path: str, flags: int, attributes: int = 0, propagation: int = 0, user_namespace: int = 0
) -> None:
    cleared = 0
    request = struct.pack("QQQQ", attributes, cleared, propagation, user_namespace)
    call("mount_setattr", descriptor, os.fsencode(path), flags, request, len(request))
