"""The two system call filters of a jail, compiled once, and the digests that name them.

Takes: nothing.  Gives: encoded programs for `seccomp.install`.  Never: holds a list of its own; the tables are in
`kernel.allowlist`.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ringfence.contract.fingerprint import digest
from ringfence.kernel import namespaces
from ringfence.kernel.allowlist import FRESH_MOUNTS, Row, stage_a, stage_b
from ringfence.kernel.allowlist_files import WITH_FILES
from ringfence.kernel.allowlist_network import MAKING_WAYS, WITH_NETWORK
from ringfence.kernel.allowlist_processes import WITH_AN_ENTRY, WITH_PROCESSES, stage_c
from ringfence.kernel.mounts import BIND_FLAGS
from ringfence.kernel.seccomp import compile_table, encode, on_top_of

SPARE_NAMESPACES = namespaces.NEW_USER | namespaces.NEW_PIDS | namespaces.NEW_MOUNTS | namespaces.NEW_IPC
SPARE_FLAGS = SPARE_NAMESPACES | namespaces.SAME_PARENT


@dataclass(frozen=True, kw_only=True)
class Filters:
    """Stage A holds while a zygote imports and forks, and ever after; what stage B forbids besides holds, on top of it,
    while a call is served."""

    stage_a: bytes
    stage_b: bytes

    @functools.cached_property
    def digests(self) -> tuple[str, str]:
        return digest(self.stage_a), digest(self.stage_b)


# What a granted need adds to the tables; a need that is not here adds nothing.
ADDED: Mapping[str, tuple[Row, ...]] = {
    "processes": WITH_PROCESSES,
    "entry": WITH_AN_ENTRY,
    "network": WITH_NETWORK,
    "files": WITH_FILES,
}
# What a zygote with that need may do besides, to make spares.
ADDED_TO_MAKING: Mapping[str, tuple[Row, ...]] = {"network": MAKING_WAYS}


def spare_flags(clients: tuple[str, ...]) -> int:
    """A call with a way out has a network of its own; any other shares one that has nothing in it."""
    return SPARE_FLAGS | (namespaces.NEW_NETWORK if "network" in clients else 0)


def filters(binds: Literal["none", "again"], clients: tuple[str, ...] = ()) -> Filters:
    """The filters of a jail; one whose scratch covers a mount has to bind that again."""
    return _compiled(binds, tuple(client for client in clients if client in ADDED))


@functools.cache
def _compiled(binds: Literal["none", "again"], clients: tuple[str, ...]) -> Filters:
    mount_flags = FRESH_MOUNTS if binds == "none" else (*FRESH_MOUNTS, BIND_FLAGS)
    extra = tuple(row for client in clients for row in ADDED[client])
    making = tuple(row for client in clients for row in ADDED_TO_MAKING.get(client, ()))
    first = stage_a(clone_flags=spare_flags(clients), mount_flags=mount_flags, extra=(*extra, *making))
    rest = on_top_of(first, stage_b(extra))
    return Filters(stage_a=encode(compile_table(first)), stage_b=encode(compile_table(rest)))


@functools.cache
def alone() -> bytes:
    """The filter of a tool's own program that may start no other."""
    return encode(compile_table(stage_c()))
