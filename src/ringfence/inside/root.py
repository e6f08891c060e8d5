"""Builds the jail's root: the pieces of the host that the layout names, read-only, and nothing else.

Takes: a layout.  Gives: a process whose `/` is that root.  Never: makes a piece writable, or leaves the old root.

Preconditions: the caller is alone in fresh user, mount and pid namespaces.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from ringfence.inside.layout import SCRATCH, SOURCE_FOLDER, Layout, Order
from ringfence.kernel import mounts

_ROOT_BYTES = 1 << 20
_ROOT_INODES = 1024
_NEW_ROOT = "/tmp"  # noqa: S108  every host has it; the mount that covers it is this process's own


@dataclass(frozen=True, kw_only=True)
class Pieces:
    """Detached copies of what the jail will see, by the path it will see them at."""

    trees: Mapping[str, int]
    devices: Mapping[str, int]


def gather(order: Order) -> Pieces:
    """Take hold of every piece while the host's uid still opens the way to it."""
    mounts.make_private()
    trees = {mount.path: mounts.clone_tree(mount.path) for mount in order.layout.mounts}
    trees[SOURCE_FOLDER] = mounts.clone_tree(order.source)
    return Pieces(trees=trees, devices={path: mounts.clone_tree(path) for path in order.layout.devices})


def enter(layout: Layout, pieces: Pieces) -> None:
    """Put the pieces together on a small memory file system and make it the root."""
    mounts.mount_scratch(_NEW_ROOT, size_bytes=_ROOT_BYTES, inodes=_ROOT_INODES)
    for path, tree in pieces.trees.items():
        _attach(tree, path=path, attributes=mounts.READ_ONLY_TREE)
    for path, tree in pieces.devices.items():
        _attach(tree, path=path, attributes=mounts.DEVICE_FILE)
    for link in layout.links:
        os.symlink(link.target, _beneath(link.path))
    for file in layout.files:
        _write(_beneath(file.path), text=file.text)
    for folder in ("/proc", SCRATCH):
        os.makedirs(_NEW_ROOT + folder, exist_ok=True)
    mounts.mount_proc(_NEW_ROOT + "/proc")
    mounts.enter_root(_NEW_ROOT)
    mounts.make_read_only("/")


def _attach(tree: int, *, path: str, attributes: mounts.Attribute) -> None:
    place = _beneath(path)
    if os.stat(tree).st_mode & 0o170000 == 0o040000:
        os.makedirs(place, exist_ok=True)
    else:
        _write(place, text="")
    mounts.restrict_tree(tree, attributes=attributes)
    mounts.attach(tree, target=place)
    os.close(tree)


def _beneath(path: str) -> str:
    """The path's place in the root that is being built, its parent made."""
    place = _NEW_ROOT + path
    os.makedirs(os.path.dirname(place), exist_ok=True)
    return place


def _write(path: str, *, text: str) -> None:
    with open(path, "x", encoding="utf-8") as file:
        file.write(text)
