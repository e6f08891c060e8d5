"""A grant compiled for the kernel: one pure value, with a hash, that says all a jail will hold.

Takes: a grant, the files found for it, limits, an environment, this machine's installation.  Gives: a `Blueprint`.
Never: reads a file's content, starts a process, or compiles a need that this jail has no backend for.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from ringfence.contract.capabilities import Kind
from ringfence.contract.fingerprint import fingerprint
from ringfence.contract.limits import Limits
from ringfence.errors import CallRefused
from ringfence.inside.filters import filters
from ringfence.inside.layout import (
    SCRATCH,
    WORKSPACE,
    Bounds,
    Entry,
    Granted,
    Layout,
    Link,
    Mount,
    Program,
    Rule,
    TextFile,
)
from ringfence.inside.ways import RESOLVER_ADDRESS
from ringfence.kernel import landlock
from ringfence.policy.grant import Grant
from ringfence.sandbox.installation import Installation
from ringfence.sandbox.outlet import mounts_for_roots, ports_for
from ringfence.sandbox.with_programs import (
    ENTRY_CLIENTS,
    entry_rules,
    hidden_programs,
    mounts_with_programs,
    program_links,
    program_rules,
    python_folders,
    search_path,
)

# What a Python program expects of a system, and why; a path that this machine lacks is left out.
SYSTEM_PATHS = {
    "/usr/lib": "shared libraries",
    "/usr/lib64": "the loader and shared libraries",
    "/usr/lib32": "what `/lib32` points to",
    "/lib": "shared libraries, where it is not part of `/usr`",
    "/lib64": "the loader, where it is not part of `/usr`",
    "/usr/local/lib": "shared libraries that were built here",
    "/usr/share/zoneinfo": "zoneinfo",
    "/usr/share/ca-certificates": "certificates that /etc/ssl points to",
    "/etc/ssl/certs": "public certificates, for checking signatures",
    "/etc/ssl/openssl.cnf": "OpenSSL reads it when it is loaded",
    "/etc/ld.so.cache": "the loader finds shared libraries by it",
}
DEVICES = {
    "/dev/null": "discards",
    "/dev/zero": "zeros",
    "/dev/full": "programs test for a full disk with it",
    "/dev/random": "random bytes",
    "/dev/urandom": "random bytes",
}
FILES = (
    TextFile(path="/etc/passwd", text="tool:x:1000:1000::/tmp:/\n"),
    TextFile(path="/etc/group", text="tool:x:1000:\n"),
    TextFile(path="/etc/hosts", text="127.0.0.1 localhost\n"),
    TextFile(path="/etc/nsswitch.conf", text="passwd: files\ngroup: files\nhosts: files\n"),
)
# The same for a call with a way out: its names are asked of the edge, at an address that is the jail's own.
ASKING = (
    TextFile(path="/etc/nsswitch.conf", text="passwd: files\ngroup: files\nhosts: files dns\n"),
    TextFile(path="/etc/resolv.conf", text=f"nameserver {RESOLVER_ADDRESS}\noptions timeout:2 attempts:2\n"),
)
ENVIRONMENT = {"LANG": "C.UTF-8", "HOME": SCRATCH, "TMPDIR": SCRATCH}

# The root holds nothing but the mounts above, all read-only, so one rule covers them; every spare builds these anew.
RULES = (
    Rule(path="/", rights=landlock.READ),
    Rule(path="/dev", rights=landlock.USE_DEVICE),
    Rule(path=SCRATCH, rights=landlock.EVERYTHING_BUT_EXECUTE),
)

# The needs that this jail has a backend for.
SERVED: frozenset[Kind] = frozenset({"files", "processes", "network", "secrets", "storage"})

DEFAULT_LIMITS = Limits(wall_seconds=30, cpu_seconds=5, memory_mb=256, pids=64, disk_mb=64, output_kb=1024)
_OPEN_FILES = 128
_OPEN_CONNECTIONS = 512
_BYTES_PER_INODE = 16_384
_FEWEST_INODES = 256
_MEBIBYTE = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Blueprint:
    """Everything about a jail but the tool in it and whose it is; `leads_to` is its way out, and where that goes."""

    layout: Layout
    wall_seconds: float
    posture: Literal["full", "confined"] = "full"
    leads_to: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        walls = {"posture": self.posture, "wall_seconds": self.wall_seconds, "layout": self.layout.document()}
        return {**walls, "leads_to": list(self.leads_to)} if self.leads_to else walls

    @cached_property
    def hash(self) -> str:
        """The name of this exact jail; two calls with one hash met the same walls."""
        return fingerprint(self.document())


def compile_blueprint(
    grant: Grant,
    *,
    limits: Limits,
    environment: Mapping[str, str],
    installation: Installation,
    landlock_version: int,
    granted: tuple[Granted, ...] = (),
    programs: tuple[Program, ...] = (),
    libraries: tuple[Program, ...] = (),
    entry: Entry | None = None,
    hidden: Callable[[Sequence[Mount]], tuple[str, ...]] = hidden_programs,
) -> Blueprint:
    """The jail for a grant, or a refusal where a need has no backend or the kernel lacks what every jail is made of."""
    if not grant.kinds <= SERVED:
        listed = ", ".join(f"`{kind}`" for kind in sorted(grant.kinds - SERVED))
        raise CallRefused(f"the local jail has no backend for {listed}", code="not_available")
    if landlock_version < 1:
        raise CallRefused("this kernel offers no Landlock, or has it switched off", code="posture_insufficient")
    running = bool(programs or entry)
    mounts = mounts_with_programs(installation, programs) if running else _mounts(installation)
    mounts = (*mounts, *mounts_for_roots(environment, mounts=mounts))
    if any(mount.path.startswith(WORKSPACE + "/") for mount in mounts):
        raise CallRefused(f"Python lies below `{WORKSPACE}`, where a jail has the agent's files", code="not_available")
    settled = limits.capped_by(_ceiling(limits))
    layout = Layout(
        mounts=mounts,
        devices=tuple(DEVICES),
        links=(*_links(), *program_links(programs, libraries=libraries, mounts=mounts)),
        files=_files(grant),
        rules=(*RULES, *_rules(granted), *program_rules(programs), *entry_rules(entry)),
        landlock_version=min(landlock_version, landlock.NEWEST_KNOWN_VERSION),
        bounds=_bounds(settled, open_files=_OPEN_CONNECTIONS if "network" in grant.kinds else _OPEN_FILES),
        environment=tuple(sorted({**environment, **ENVIRONMENT, **search_path(programs)}.items())),
        import_path=installation.import_path,
        stage_a="",
        stage_b="",
        clients=tuple(sorted({*grant.kinds, *(ENTRY_CLIENTS if entry else ())})),
        granted=granted,
        ports=ports_for(grant),
        programs=programs,
        libraries=libraries,
        hidden=hidden(mounts) if running else (),
        entry=entry,
    )
    stage_a, stage_b = filters(layout.binds, layout.clients).digests
    layout = replace(layout, stage_a=stage_a, stage_b=stage_b)
    return Blueprint(layout=layout, wall_seconds=settled.wall_seconds or 0)


def _rules(granted: tuple[Granted, ...]) -> tuple[Rule, ...]:
    """What may be written; reading is covered by the rule for the root."""
    return tuple(Rule(path=each.path, rights=landlock.WRITE) for each in granted if each.access == "write")


def _ceiling(limits: Limits) -> Limits:
    """The defaults, for whatever was left open; a stated limit stands as it is."""
    stated = limits.document()
    return Limits(**{name: stated.get(name, value) for name, value in DEFAULT_LIMITS.document().items()})  # type: ignore[arg-type]


def _files(grant: Grant) -> tuple[TextFile, ...]:
    """A call with a way out asks for names; any other has none to ask for."""
    if "network" not in grant.kinds:
        return FILES
    return (*(file for file in FILES if file.path not in {asking.path for asking in ASKING}), *ASKING)


def _bounds(limits: Limits, *, open_files: int) -> Bounds:
    scratch = round((limits.disk_mb or 0) * _MEBIBYTE)
    return Bounds(
        cpu_seconds=math.ceil(limits.cpu_seconds or 0),
        memory_bytes=round((limits.memory_mb or 0) * _MEBIBYTE),
        processes=limits.pids or 0,
        scratch_bytes=scratch,
        scratch_inodes=max(_FEWEST_INODES, scratch // _BYTES_PER_INODE),
        output_bytes=round((limits.output_kb or 0) * 1024),
        open_files=open_files,
    )


def _mounts(installation: Installation) -> tuple[Mount, ...]:
    wanted = [path for path in SYSTEM_PATHS if os.path.exists(path) and not os.path.islink(path)]
    wanted += python_folders(installation)
    return tuple(
        Mount(path=path, kind="folder" if os.path.isdir(path) else "file")
        for path in sorted(set(wanted))
        if not _beneath_another(path, wanted)
    )


def _beneath_another(path: str, others: Iterable[str]) -> bool:
    return any(path != other and path.startswith(other.rstrip("/") + "/") for other in others)


def _links() -> tuple[Link, ...]:
    return tuple(Link(path=path, target=os.readlink(path)) for path in SYSTEM_PATHS if os.path.islink(path))
