"""The two system call filters of a jail, compiled once, and the digests that name them.

Takes: nothing.  Gives: encoded programs for `seccomp.install`.  Never: holds a list of its own; the tables are in
`kernel.allowlist`.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Literal

from ringfence.contract.fingerprint import digest
from ringfence.kernel import namespaces
from ringfence.kernel.allowlist import FRESH_MOUNTS, stage_a, stage_b
from ringfence.kernel.mounts import BIND_FLAGS
from ringfence.kernel.seccomp import compile_table, encode

SPARE_NAMESPACES = namespaces.NEW_USER | namespaces.NEW_PIDS | namespaces.NEW_MOUNTS | namespaces.NEW_IPC
SPARE_FLAGS = SPARE_NAMESPACES | namespaces.SAME_PARENT


@dataclass(frozen=True, kw_only=True)
class Filters:
    """Stage A holds while a zygote imports and forks; stage B, on top of it, while a call is served."""

    stage_a: bytes
    stage_b: bytes

    @property
    def digests(self) -> tuple[str, str]:
        return digest(self.stage_a), digest(self.stage_b)


@functools.cache
def filters(binds: Literal["none", "again"]) -> Filters:
    """The filters of a jail; one whose scratch covers a mount has to bind that again."""
    mount_flags = FRESH_MOUNTS if binds == "none" else (*FRESH_MOUNTS, BIND_FLAGS)
    first = stage_a(clone_flags=SPARE_FLAGS, mount_flags=mount_flags)
    return Filters(stage_a=encode(compile_table(first)), stage_b=encode(compile_table(stage_b())))
