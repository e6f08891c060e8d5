"""Where a call begins and whose ids it has, where no mount shows a granted folder under another name and owner.

Takes: the agent's folder, and what was granted of it.  Gives: a `Footing`, or a refusal.  Never: root's ids, or one id
for files of two owners.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from ringfence.inside.layout import WORKSPACE, Granted, identity_of
from ringfence.sandbox.enforceable import refusal

_REMEDY = "give the agent's workspace to one user who is not root, by `chown -R`, or run Ringfence as an ordinary user"


@dataclass(frozen=True, kw_only=True)
class Footing:
    """The folder in which a call begins, and its owner's ids; None where the jail has its own, or the host's."""

    workspace: str = WORKSPACE
    ids: tuple[int, int] | None = None


MOUNTED = Footing()


def footing_on_disk(workspace: str | None, granted: Sequence[Granted]) -> Footing:
    """The footing of a call that has the folder itself; one without files has none."""
    return MOUNTED if workspace is None else Footing(workspace=os.path.realpath(workspace), ids=owner_of(granted))


def owner_of(granted: Sequence[Granted]) -> tuple[int, int] | None:
    """The one owner of all that was granted; None where the jail has ids of its own, or the host's."""
    if os.geteuid() != 0 or not granted:
        return None
    owners = [_owner(each) for each in granted]
    uid, gid = owners[0]
    if any(other != uid for other, _ in owners):
        raise refusal("without namespaces a call has one user, and what was granted belongs to several", remedy=_REMEDY)
    if uid == 0:
        message = f"`{granted[0].source}` belongs to root, and without namespaces no tool runs as root"
        raise refusal(message, remedy=_REMEDY)
    # A folder of root's group does not make its owner a member of that group.
    return uid, gid or uid


def _owner(granted: Granted) -> tuple[int, int]:
    try:
        seen = os.stat(granted.source, follow_symlinks=False)
    except OSError as failure:
        raise refusal(f"`{granted.source}` cannot be seen any more: {failure.strerror}") from None
    if identity_of(seen) != granted.identity:
        raise refusal(f"`{granted.source}` is no longer the file that was granted")
    return seen.st_uid, seen.st_gid
