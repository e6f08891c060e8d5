"""A map of owners, as a descriptor that a mount can be given: files of one id on disk are another's where it is seen.

Takes: an id on disk and the id that stands for it.  Gives: the descriptor of a user namespace that nobody lives in.
Never: leaves the process behind that the namespace was made with.
"""

from __future__ import annotations

import os

from ringfence.kernel import namespaces
from ringfence.kernel.namespaces import IdMap


def owner_map(*, uid: IdMap, gid: IdMap) -> int:
    """A user namespace with these maps; `inside` is the id on disk, `outside` the one that the mount shows."""
    waiting, held = os.pipe()
    pid = namespaces.clone(namespaces.NEW_USER)
    if pid == 0:
        os.close(held)
        os.read(waiting, 1)
        os._exit(0)
    try:
        namespaces.write_maps(pid, uid=uid, gid=gid, setgroups="deny")
        return os.open(f"/proc/{pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        # Its end of the pipe tells the child to go; whoever made it ignores or collects its status.
        os.close(waiting)
        os.close(held)
