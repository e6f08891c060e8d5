"""Takes hold of granted files and listed programs as detached mounts; files keep the owner that they have on disk.

Takes: what was granted, and the ids a jail runs as.  Gives: mount descriptors in the order of the grants.
Never: follows a link, or mounts a file other than the one that was granted.

Root runs a jail on ids that own nothing, so its mounts show the granted folder's owner as the jail's own id, and what
the jail writes belongs to that owner on disk. An ordinary user's jail has that user's id, and needs no such map.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from ringfence.inside.layout import Granted, Order, Program, identity_of
from ringfence.kernel import mounts
from ringfence.kernel.beneath import HERE, PLAIN_NAMES, open_at
from ringfence.kernel.namespaces import IdMap
from ringfence.kernel.owners import owner_map

_ATTRIBUTES = {"read": mounts.FOR_READING, "write": mounts.FOR_WRITING}


def take_as_root(order: Order) -> list[int]:
    """Detached mounts whose owners are mapped; made where the privilege over the file systems is."""
    return [_taken(each, owner_becomes=(order.uid, order.gid)) for each in order.layout.granted]


def take_as_user(granted: Sequence[Granted]) -> list[int]:
    """Detached mounts as they are; made in the jail's own mount namespace."""
    return [_taken(each, owner_becomes=None) for each in granted]


def take_program(program: Program) -> int:
    """The detached mount of one listed file, which can be run and not changed."""
    tree, _ = _held(program.path, identity=program.identity)
    mounts.restrict_tree(tree, attributes=mounts.READ_ONLY_TREE)
    return tree


def _held(path: str, *, identity: str) -> tuple[int, os.stat_result]:
    found = open_at(HERE, path, flags=os.O_PATH, resolve=PLAIN_NAMES)
    try:
        seen = os.fstat(found)
        if identity_of(seen) != identity:
            raise OSError(f"`{path}` is no longer the file that was granted")
        tree = mounts.clone_tree_of(found)
    finally:
        os.close(found)
    mounts.keep_private(tree)
    return tree, seen


def _taken(granted: Granted, *, owner_becomes: tuple[int, int] | None) -> int:
    tree, seen = _held(granted.source, identity=granted.identity)
    if owner_becomes is not None:
        _map(tree, owner=(seen.st_uid, seen.st_gid), becomes=owner_becomes)
    mounts.restrict_tree(tree, attributes=_ATTRIBUTES[granted.access])
    return tree


def _map(tree: int, *, owner: tuple[int, int], becomes: tuple[int, int]) -> None:
    (uid, gid), (to_uid, to_gid) = owner, becomes
    namespace = owner_map(uid=IdMap(inside=uid, outside=to_uid), gid=IdMap(inside=gid, outside=to_gid))
    try:
        mounts.map_owners(tree, user_namespace=namespace)
    finally:
        os.close(namespace)
