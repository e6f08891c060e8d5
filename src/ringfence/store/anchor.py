"""The anchor: a file outside the store that holds every checkpoint, one a line, and is only appended to.

Takes: checkpoints.  Gives: their lines on disk.  Never: changes or removes a line, and never hides that it is ahead.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

from ringfence.audit.checkpoint import Checkpoint, read_line
from ringfence.errors import TrailUnavailable

_BLOCK = 64 * 1024


class Anchor:
    """One anchor file, held by one process at a time while a checkpoint is made."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def create(self) -> None:
        """Make an empty anchor for a store that has no checkpoint yet."""
        with _as_unavailable(self.path):
            os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600))
            _sync_folder(self.path.parent)

    @contextmanager
    def held(self) -> Generator[HeldAnchor, None, None]:
        """The anchor, opened for appending and locked against other processes."""
        with _as_unavailable(self.path):
            descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
        try:
            with _as_unavailable(self.path):
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield HeldAnchor(descriptor, path=self.path)
        finally:
            os.close(descriptor)

    def lines(self) -> list[str] | None:
        """Every line, or nothing where the file is missing."""
        with _as_unavailable(self.path):
            if not self.path.exists():
                return None
            return self.path.read_text(encoding="utf-8", errors="backslashreplace").splitlines()


class HeldAnchor:
    """An anchor that no other process writes meanwhile."""

    def __init__(self, descriptor: int, *, path: Path) -> None:
        self._descriptor = descriptor
        self._path = path
        with _as_unavailable(path):
            self._last, self._torn = _end_of(descriptor)

    def require_behind(self, kept: Callable[[int], Iterable[Checkpoint]]) -> None:
        """Refuse to go on where the anchor ends with a checkpoint that the store does not hold."""
        if self._last:
            anchored = read_line(self._last)
            if anchored is None or anchored not in kept(anchored.number):
                raise TrailUnavailable("the anchor holds a checkpoint that the store does not", code="audit_broken")

    def complete(self, kept: Callable[[int], Iterable[Checkpoint]]) -> None:
        """Append every checkpoint that the anchor does not hold yet; a line cut short by a crash is finished."""
        anchored = read_line(self._last) if self._last else None
        first = anchored.number + 1 if anchored else 1
        due = b"".join(checkpoint.line().encode() + b"\n" for checkpoint in kept(first))
        if not due.startswith(self._torn):
            raise TrailUnavailable("the anchor ends with something that is no checkpoint", code="audit_broken")
        with _as_unavailable(self._path):
            _write_all(self._descriptor, due[len(self._torn) :])
            os.fsync(self._descriptor)


def _end_of(descriptor: int) -> tuple[str, bytes]:
    """The last whole line, and what follows it."""
    size = os.fstat(descriptor).st_size
    wanted = _BLOCK
    while True:
        start = max(0, size - wanted)
        whole, newline, torn = os.pread(descriptor, size - start, start).rpartition(b"\n")
        if start == 0 or b"\n" in whole:
            return (whole.rpartition(b"\n")[2].decode(errors="backslashreplace") if newline else ""), torn
        wanted *= 2


def _write_all(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _as_unavailable(path: Path) -> Generator[None, None, None]:
    try:
        yield
    except OSError as error:
        raise TrailUnavailable(
            f"the anchor `{path}` cannot be used: {error.strerror}",
            remedy="put the anchor back; where there never was one, make an empty file",
        ) from error
