"""Builds the jail's root: the pieces of the host that the layout names, read-only, what was granted, and nothing else.

Takes: a layout.  Gives: a process whose `/` is that root.  Never: makes a piece writable that was not granted so, or
leaves the old root.

Preconditions: the caller is alone in fresh user, mount and pid namespaces.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ringfence.inside.grants import take_program
from ringfence.inside.layout import SCRATCH, SOURCE_FOLDER, WORKSPACE, Layout, Order, Program
from ringfence.kernel import mounts
from ringfence.kernel.beneath import HERE, PLAIN_NAMES, open_at

_ROOT_BYTES = 1 << 20
_ROOT_INODES = 1024
_NEW_ROOT = "/tmp"  # noqa: S108  every host has it; the mount that covers it is this process's own


@dataclass(frozen=True, kw_only=True)
class Pieces:
    """Detached copies of what the jail will see, by the path it will see them at."""

    trees: Mapping[str, int]
    devices: Mapping[str, int]
    programs: Mapping[str, int]


def gather(order: Order) -> Pieces:
    """Take hold of every piece while the host's uid still opens the way to it."""
    mounts.make_private()
    trees = {mount.path: mounts.clone_tree(mount.path) for mount in order.layout.mounts}
    trees[SOURCE_FOLDER] = mounts.clone_tree(order.source)
    return Pieces(
        trees=trees,
        devices={path: mounts.clone_tree(path) for path in order.layout.devices},
        programs={each.path: take_program(each) for each in _files_of_code(order.layout)},
    )


def rehearse() -> None:
    """Take hold of a piece that nobody will see: the next one is then no first time."""
    tree = mounts.clone_tree(os.devnull)
    mounts.restrict_tree(tree, attributes=mounts.READ_ONLY_TREE)
    os.close(tree)


def _files_of_code(layout: Layout) -> Collection[Program]:
    """Each file once, however often it was listed."""
    return {each.path: each for each in (*layout.programs, *layout.libraries)}.values()


def enter(layout: Layout, pieces: Pieces, *, granted: Sequence[int]) -> None:
    """Put the pieces together on a small memory file system, what was granted among them, and make it the root."""
    mounts.mount_scratch(_NEW_ROOT, size_bytes=_ROOT_BYTES, inodes=_ROOT_INODES)
    without_code = {mount.path for mount in layout.mounts if mount.code == "refused"}
    for path, tree in pieces.trees.items():
        _attach(tree, path=path, attributes=mounts.FOR_READING if path in without_code else mounts.READ_ONLY_TREE)
    for path, tree in pieces.devices.items():
        _attach(tree, path=path, attributes=mounts.DEVICE_FILE)
    _hide(layout.hidden)
    for path, tree in pieces.programs.items():
        _attach_granted(tree, path=path)
    if layout.start == WORKSPACE:
        os.makedirs(_NEW_ROOT + WORKSPACE)
    for path, tree in sorted(zip((each.path for each in layout.granted), granted, strict=True)):
        _attach_granted(tree, path=path)
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
    _make_place(tree, place)
    mounts.restrict_tree(tree, attributes=attributes)
    mounts.attach(tree, target=place)
    os.close(tree)


def _attach_granted(tree: int, *, path: str) -> None:
    """Over a place of this root, or over the very folder within a wider grant; a link in between is refused."""
    place = _NEW_ROOT + path
    if not os.path.lexists(place):
        _make_place(tree, _beneath(path))
    found = open_at(HERE, place, flags=os.O_PATH | os.O_NOFOLLOW, resolve=PLAIN_NAMES)
    mounts.attach_at(tree, place=found)
    os.close(found)
    os.close(tree)


def _hide(paths: Sequence[str]) -> None:
    """Put an empty file over each of these, which nobody may read."""
    if not paths:
        return
    nothing = _NEW_ROOT + "/.nothing"
    os.close(os.open(nothing, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0))
    for path in paths:
        place = open_at(HERE, _NEW_ROOT + path, flags=os.O_PATH | os.O_NOFOLLOW, resolve=PLAIN_NAMES)
        tree = mounts.clone_tree(nothing)
        mounts.restrict_tree(tree, attributes=mounts.FOR_READING)
        mounts.attach_at(tree, place=place)
        os.close(tree)
        os.close(place)
    os.unlink(nothing)


def _make_place(tree: int, place: str) -> None:
    if stat.S_ISDIR(os.stat(tree).st_mode):
        os.makedirs(place, exist_ok=True)
    else:
        _write(place, text="")


def _beneath(path: str) -> str:
    """The path's place in the root that is being built, its parent made."""
    place = _NEW_ROOT + path
    os.makedirs(os.path.dirname(place), exist_ok=True)
    return place


def _write(path: str, *, text: str) -> None:
    with open(path, "x", encoding="utf-8") as file:
        file.write(text)
