"""A tool's source, read as bytes, named by its digest, and kept where nothing changes it.

Takes: a module's name and folders to look in.  Gives: a read-only copy under the state folder.  Never: imports or
compiles what it reads, follows a link, or copies a `.pyc` or hidden file.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ringfence
from ringfence.contract.fingerprint import fingerprint
from ringfence.errors import DeclarationRefused

_MOST_FILES = 10_000
_MOST_BYTES = 64 << 20
_MANIFEST, _FILES = "manifest.json", "files"
_LABEL = "sha256:"
_TEXT, _PROGRAM = 0o444, 0o555
_OWN, _TOOLBOX = "ringfence", "tools"
# In place of a module's name: the file of a tool folder that is started.
ENTRY = "entrypoint:"


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """One kept source: which module it is imported as, its digest, and the folder a jail mounts."""

    module: str
    digest: str
    folder: Path


@dataclass(frozen=True, kw_only=True)
class Source:
    """A module's files as they were read: content by path relative to the import folder."""

    module: str
    files: dict[str, bytes]

    def manifest(self) -> dict[str, Any]:
        hashes = {path: hashlib.sha256(content).hexdigest() for path, content in sorted(self.files.items())}
        return {"module": self.module, "files": hashes}

    @property
    def digest(self) -> str:
        return fingerprint(self.manifest())


def read_module(module: str, *, path: Sequence[Path]) -> Source:
    """The module's file, or the whole folder of its top-level package, from the first folder that has it."""
    parts = module.split(".")
    if not all(part.isidentifier() for part in parts):
        raise DeclarationRefused(f"`{module}` is not a module's name")
    if parts[0] == _OWN:
        return _read_own(module, parts[1:])
    for folder in path:
        package, single = folder / parts[0], folder / f"{parts[0]}.py"
        if package.is_dir() and _holds(package, parts[1:]):
            return Source(module=module, files=_read_folder(package, under=parts[0]))
        if len(parts) == 1 and single.is_file():
            return read_file(single, module=module)
    listed = ", ".join(f"`{folder}`" for folder in path) or "no folder at all"
    raise DeclarationRefused(f"module `{module}` is not found in {listed}", remedy="list its folder in `tools.path`")


def _read_own(module: str, parts: Sequence[str]) -> Source:
    """The toolbox that is installed with Ringfence, whatever folders are looked in; nothing else of it holds tools."""
    package = Path(ringfence.__file__).resolve().parent
    if parts[:1] != [_TOOLBOX] or not _holds(package, parts):
        raise DeclarationRefused(f"module `{module}` holds no tools", remedy=f"name `{_OWN}.{_TOOLBOX}`")
    return Source(module=module, files=_read_folder(package / _TOOLBOX, under=f"{_OWN}/{_TOOLBOX}"))


def read_tool_folder(folder: Path) -> dict[str, bytes]:
    """Every file of a folder that has a `TOOL.md`, by its path in it."""
    return _read_folder(folder, under="")


def read_file(file: Path, *, module: str) -> Source:
    """One file as the module of that name."""
    return Source(module=module, files={f"{module}.py": _read(file, left=_MOST_BYTES)})


class Snapshots:
    """The kept sources of one state folder."""

    def __init__(self, state: Path) -> None:
        self._folder = state / "sources"
        self._verified: dict[str, Snapshot] = {}

    def keep(self, source: Source) -> Snapshot:
        """Store a source, unless it is there; then check that it is what its name says."""
        digest = source.digest
        place = self._place(digest)
        if not place.is_dir():
            self._store(source, place=place)
        return self.find(digest)

    def find(self, digest: str) -> Snapshot:
        """A kept source, its every byte checked against its name."""
        place = self._place(digest)
        try:
            manifest = json.loads((place / _MANIFEST).read_bytes())
            files = {name: _read(place / _FILES / name, left=_MOST_BYTES) for name in manifest["files"]}
        except (OSError, ValueError, KeyError, TypeError):
            raise DeclarationRefused(
                f"the source `{digest}` is not kept here", remedy="describe its module again"
            ) from None
        found = set(_walk(place / _FILES))
        if Source(module=manifest["module"], files=files).digest != digest or found != set(files):
            raise DeclarationRefused(
                f"the kept source `{digest}` was altered", remedy="remove it and describe its module again"
            )
        return Snapshot(module=manifest["module"], digest=digest, folder=place / _FILES)

    def _place(self, digest: str) -> Path:
        name = digest.removeprefix(_LABEL)
        if len(name) != 64 or not set(name) <= set("0123456789abcdef"):
            raise DeclarationRefused(f"`{digest[:100]}` is not the digest of a source")
        return self._folder / name

    def _store(self, source: Source, *, place: Path) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        # Written beside and renamed, so that nobody ever sees half a source.
        fresh = self._folder / f".{secrets.token_hex(8)}"
        (fresh / _FILES).mkdir(parents=True)
        for name, content in source.files.items():
            _write(fresh / _FILES / name, content, mode=_PROGRAM if source.module == ENTRY + name else _TEXT)
        _write(fresh / _MANIFEST, json.dumps(source.manifest()).encode())
        for folder, _, _ in os.walk(fresh / _FILES):
            os.chmod(folder, 0o555)  # noqa: S103  a jail's uid reads it, nobody writes it
        try:
            fresh.rename(place)
        except OSError:
            _discard(fresh)
            if not place.is_dir():
                raise


def _discard(folder: Path) -> None:
    for inner, _, _ in os.walk(folder):
        os.chmod(inner, 0o700)
    shutil.rmtree(folder)


def _holds(package: Path, rest: Sequence[str]) -> bool:
    inner = package.joinpath(*rest)
    return inner.is_dir() or inner.with_suffix(".py").is_file()


def _read_folder(package: Path, *, under: str) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    left = _MOST_BYTES
    for name in _walk(package):
        content = _read(package / name, left=left)
        left -= len(content)
        files[f"{under}/{name}" if under else name] = content
        if len(files) > _MOST_FILES:
            raise DeclarationRefused(f"package `{package}` has more than {_MOST_FILES} files")
    return files


def _walk(folder: Path, *, prefix: str = "") -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda each: each.name):
            if entry.name.startswith(".") or entry.name == "__pycache__" or entry.name.endswith(".pyc"):
                continue
            if entry.is_symlink():
                raise DeclarationRefused(f"`{entry.path}` is a link", remedy="put the file itself into the package")
            if entry.is_dir(follow_symlinks=False):
                yield from _walk(Path(entry.path), prefix=f"{prefix}{entry.name}/")
            else:
                yield prefix + entry.name


def _read(file: Path, *, left: int) -> bytes:
    """A regular file's bytes; the check is on what was opened, not on what the name said before."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as opened:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise DeclarationRefused(f"`{file}` is not a regular file")
        content = opened.read(left + 1)
    if len(content) > left:
        raise DeclarationRefused(f"the source with `{file}` is larger than {_MOST_BYTES} bytes")
    return content


def _write(file: Path, content: bytes, *, mode: int = _TEXT) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    file.chmod(mode)
