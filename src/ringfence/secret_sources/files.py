"""A secret in a file of its own, or in the file of its name within a folder.

Takes: a path.  Gives: what the file holds now, so that replacing it is rotating the secret.
Never: reads a file that others can read.
"""

from __future__ import annotations

from pathlib import Path

from ringfence.execution.secrets import Fetched, SecretValue
from ringfence.secret_sources.private_file import read_private, write_private


class FileSource:
    """One file, read again for each call that uses the secret."""

    kind = "file"
    lasts = 0.0

    def __init__(self, name: str, *, path: Path) -> None:
        self._name = name
        self._path = path

    @property
    def where(self) -> str:
        return str(self._path)

    def fetch(self) -> Fetched:
        return read_private(self._path, name=self._name)

    def store(self, value: SecretValue) -> None:
        write_private(self._path, value)


class DirectorySource(FileSource):
    """A folder with one file per secret, each under the secret's own name."""

    kind = "directory"

    def __init__(self, name: str, *, folder: Path) -> None:
        super().__init__(name, path=folder / name)
