"""Takes hold of an agent's granted files as detached mounts, with the owner that they have on disk.

Takes: what was granted, and the ids a jail runs as.  Gives: mount descriptors in the order of the grants.
Never: follows a link, or mounts a file other than the one that was granted.

Root runs a jail on ids that own nothing, so its mounts show the granted folder's owner as the jail's own id, and what
the jail writes belongs to that owner on disk. An ordinary user's jail has that user's id, and needs no such map.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from ringfence.inside.layout import Granted, Order
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


def _taken(granted: Granted, *, owner_becomes: tuple[int, int] | None) -> int:
    found = open_at(HERE, granted.source, flags=os.O_PATH, resolve=PLAIN_NAMES)
    try:
        seen = os.fstat(found)
        if (seen.st_dev, seen.st_ino) != (granted.device, granted.inode):
            raise OSError(f"`{granted.path}` is no longer the file that was granted")
        tree = mounts.clone_tree_of(found)
    finally:
        os.close(found)
    mounts.keep_private(tree)
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
