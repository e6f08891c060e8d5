"""Copies of tool sources where a jail's own user can read them.

Takes: a kept source.  Gives: a folder with the same files.  Never: leaves one behind, or shows a name that can be
guessed.

The state folder is its owner's alone. With namespaces a jail gets its source as a mount; without them a jail of root,
which runs as a user that owns nothing, has no way to it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

_LISTED_BY_NOBODY = 0o711


class Exposed:
    """The copies of one host, made when first needed, gone when it closes."""

    def __init__(self) -> None:
        self._base: Path | None = None

    def folder(self, kept: Path, *, digest: str) -> Path:
        """Where this source can be read by every user who knows the name."""
        if self._base is None:
            self._base = Path(tempfile.mkdtemp(prefix="ringfence-sources-"))
            self._base.chmod(_LISTED_BY_NOBODY)
        place = self._base / digest.rpartition(":")[2]
        if not place.exists():
            shutil.copytree(kept, place)
        return place

    def close(self) -> None:
        if self._base is None:
            return
        # Kept sources are read-only folders, and so are their copies.
        for inner, _, _ in os.walk(self._base):
            os.chmod(inner, 0o700)
        shutil.rmtree(self._base)
        self._base = None
