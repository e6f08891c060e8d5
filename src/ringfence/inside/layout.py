"""What a jail is made of, as the host writes it down and the jail builds it.

Takes: the host's JSON.  Gives: frozen values.  Never: chooses a path, a right or a number.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

INNER_ID = 1000
SOURCE_FOLDER = "/tool"
WORKSPACE = "/workspace"
SCRATCH = "/tmp"  # noqa: S108  a fresh memory file system in every call


@dataclass(frozen=True, kw_only=True)
class Mount:
    """A file or folder of the host that is seen, read-only, at the same path in the jail.

    Where `code` is `refused`, nothing of it can be mapped or run as a program.
    """

    path: str
    kind: str
    code: Literal["allowed", "refused"] = "allowed"


def identity_of(seen: os.stat_result) -> str:
    """Which file this is, whatever its name; as text, for the numbers can be larger than JSON's."""
    return f"{seen.st_dev}:{seen.st_ino}"


Access: TypeAlias = Literal["read", "write"]


@dataclass(frozen=True, kw_only=True)
class Granted:
    """A file or folder of the agent's workspace: `path` is where the jail sees it, `source` where the host has it.

    The identity says which file was granted; a name that leads to another file by now is not followed.
    """

    path: str
    source: str
    identity: str
    access: Access


@dataclass(frozen=True, kw_only=True)
class Program:
    """A listed binary, or a library of one: `name` is how it is asked for, `place` where it was found, `path` the file.

    The identity says which file; `changed` makes a jail of its own for a file that was altered since.
    """

    name: str
    place: str
    path: str
    loader: str | None
    identity: str
    changed: str


@dataclass(frozen=True, kw_only=True)
class Entry:
    """The file that a tool without Python is: started by every call, alone unless it may start others."""

    path: str
    loader: str | None
    children: Literal["allowed", "refused"]


@dataclass(frozen=True, kw_only=True)
class Link:
    """A symbolic link of the jail's root."""

    path: str
    target: str


@dataclass(frozen=True, kw_only=True)
class TextFile:
    """A small file that exists only in the jail."""

    path: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Rule:
    """Landlock rights that a call keeps at and below a path."""

    path: str
    rights: int


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What one call may use, in the kernel's units."""

    cpu_seconds: int
    memory_bytes: int
    processes: int
    scratch_bytes: int
    scratch_inodes: int
    output_bytes: int
    open_files: int


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Everything that is the same for all calls of one jail, but the tool itself.

    `clients` are the kinds of need for which the tool's context has a client; `ports` are those at which a call with
    a way out is listened for. `workspace` is where a call has the agent's folder; without namespaces that is the
    folder itself, and `ids` are its owner's, whom a jail of root then runs as.
    """

    mounts: tuple[Mount, ...]
    devices: tuple[str, ...]
    links: tuple[Link, ...]
    files: tuple[TextFile, ...]
    rules: tuple[Rule, ...]
    landlock_version: int
    bounds: Bounds
    environment: tuple[tuple[str, str], ...]
    import_path: tuple[str, ...]
    stage_a: str
    stage_b: str
    posture: Literal["full", "confined"] = "full"
    clients: tuple[str, ...] = ()
    granted: tuple[Granted, ...] = ()
    programs: tuple[Program, ...] = ()
    libraries: tuple[Program, ...] = ()
    hidden: tuple[str, ...] = ()
    entry: Entry | None = None
    ports: tuple[int, ...] = ()
    workspace: str = WORKSPACE
    ids: tuple[int, int] | None = None

    def document(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def imports(self) -> Literal["once", "in every call"]:
        """Where children may be started, no process but a call's own ever runs the tool's code."""
        return "in every call" if "processes" in self.clients else "once"

    @property
    def start(self) -> str:
        """The folder in which a call begins."""
        if "files" in self.clients:
            return self.workspace
        return SCRATCH if self.posture == "full" else "/"

    def writable(self) -> frozenset[str]:
        """The granted places that a call may change."""
        return frozenset(each.path for each in self.granted if each.access == "write")

    @property
    def binds(self) -> Literal["none", "again"]:
        return "again" if self.hidden_by_scratch() else "none"

    def hidden_by_scratch(self) -> tuple[str, ...]:
        """Mounts that a fresh scratch folder would cover, so that a call has to bind them again."""
        return tuple(mount.path for mount in self.mounts if mount.path.startswith(SCRATCH + "/"))


@dataclass(frozen=True, kw_only=True)
class Order:
    """One jail to build: a layout, the source it serves, and whose ids it takes on the host."""

    layout: Layout
    source: str
    module: str
    uid: int
    gid: int


def read_layout(document: Mapping[str, Any]) -> Layout:
    """The layout that the host wrote; a missing or unknown field is an error."""
    fields = dict(document)
    fields["mounts"] = tuple(Mount(**item) for item in fields["mounts"])
    fields["links"] = tuple(Link(**item) for item in fields["links"])
    fields["files"] = tuple(TextFile(**item) for item in fields["files"])
    fields["rules"] = tuple(Rule(**item) for item in fields["rules"])
    fields["clients"] = tuple(fields["clients"])
    fields["granted"] = tuple(Granted(**item) for item in fields["granted"])
    fields["programs"] = tuple(Program(**item) for item in fields["programs"])
    fields["libraries"] = tuple(Program(**item) for item in fields["libraries"])
    fields["hidden"] = tuple(fields["hidden"])
    fields["entry"] = None if fields["entry"] is None else Entry(**fields["entry"])
    fields["bounds"] = Bounds(**fields["bounds"])
    fields["environment"] = tuple((name, value) for name, value in fields["environment"])
    fields["devices"] = tuple(fields["devices"])
    fields["ports"] = tuple(fields["ports"])
    fields["ids"] = None if fields["ids"] is None else tuple(fields["ids"])
    fields["import_path"] = tuple(fields["import_path"])
    return Layout(**fields)
