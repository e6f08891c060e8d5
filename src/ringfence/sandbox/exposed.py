"""Copies of tool sources, and small files, where a jail's own user can read them.

Takes: a kept source, or a text.  Gives: a folder with the same files, or a file.
Never: leaves one behind, or shows a name that can be guessed.

The state folder is its owner's alone. With namespaces a jail gets its source as a mount; without them a jail of root,
which runs as a user that owns nothing, has no way to it.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
import weakref
from pathlib import Path

from ringfence.sandbox.groups import born

_LISTED_BY_NOBODY = 0o711
_READ_BY_ALL = 0o444
_NAME = re.compile(r"ringfence-sources-(?P<pid>\d+)-(?P<born>\d+)-\w+")


class Exposed:
    """The copies of one host, made when first needed, gone when it closes."""

    def __init__(self) -> None:
        self._base: Path | None = None

    def folder(self, kept: Path, *, digest: str) -> Path:
        """Where this source can be read by every user who knows the name."""
        place = self._made() / digest.rpartition(":")[2]
        if not place.exists():
            shutil.copytree(kept, place)
        return place

    def text(self, content: str, *, kept_with: object) -> Path:
        """A file that every user who knows the name can read, for as long as somebody keeps the other thing."""
        place = self._made() / secrets.token_hex(16)
        place.write_text(content, encoding="utf-8")
        place.chmod(_READ_BY_ALL)
        weakref.finalize(kept_with, place.unlink, missing_ok=True)
        return place

    def _made(self) -> Path:
        if self._base is None:
            sweep_sources()
            prefix = f"ringfence-sources-{os.getpid()}-{born(os.getpid())}-"
            self._base = Path(tempfile.mkdtemp(prefix=prefix))
            self._base.chmod(_LISTED_BY_NOBODY)
        return self._base

    def close(self) -> None:
        if self._base is None:
            return
        _remove(self._base)
        self._base = None


def sweep_sources() -> None:
    """Remove what hosts of this user left that were killed before they could."""
    for folder in Path(tempfile.gettempdir()).glob("ringfence-sources-*"):
        name = _NAME.fullmatch(folder.name)
        ours = not folder.is_symlink() and folder.stat().st_uid == os.geteuid()
        if name is not None and ours and born(int(name["pid"])) != name["born"]:
            _remove(folder)


def _remove(base: Path) -> None:
    # Kept sources are read-only folders, and so are their copies.
    for inner, _, _ in os.walk(base):
        os.chmod(inner, 0o700)
    shutil.rmtree(base)
