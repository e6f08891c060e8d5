"""A path is walked one name at a time, where a filter hides the call by which the kernel itself keeps it beneath.

Takes: an open folder, a path, and the flags of an open.  Gives: a descriptor, or the error that the kernel's own rule
would give.  Never: follows a link unseen, or asks the kernel for `..`.

A folder once entered stays open until it is left, so no rename leads a climb to another one.
"""

from __future__ import annotations

import errno
import os

from ringfence.kernel.beneath import Resolve, open_at

_FOLDER = os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC
_MOST_LINKS = 40


def open_within(folder: int, path: str, *, flags: int, resolve: Resolve, mode: int = 0) -> int:
    """`open_at`; step by step where that call is not there."""
    try:
        return open_at(folder, path, flags=flags, resolve=resolve, mode=mode)
    except OSError as failure:
        if failure.errno != errno.ENOSYS or not resolve & Resolve.BENEATH:
            raise
    links = 0 if resolve & Resolve.NO_LINKS else _MOST_LINKS
    return open_by_steps(folder, path, flags=flags, mode=mode, links=links)


def open_by_steps(folder: int, path: str, *, flags: int, mode: int = 0, links: int = _MOST_LINKS) -> int:
    """Open a path beneath a folder; EXDEV where it would lead out, ELOOP after more links than may be followed."""
    walk = _Walk(folder, links=links)
    try:
        walk.head_for(path)
        return walk.open(flags=flags, mode=mode)
    finally:
        walk.close()


class _Walk:
    """Where a walk stands: the folders that it entered, and the names that are still to come, the next one last."""

    def __init__(self, folder: int, *, links: int) -> None:
        self._folders = [os.dup(folder)]
        self._pending: list[str] = []
        self._links = links

    def head_for(self, path: str) -> None:
        """Go on by this path; one that names a folder by its end leads to a folder or nowhere."""
        if path.startswith("/"):
            raise OSError(errno.EXDEV, "an absolute path")
        if not path:
            raise FileNotFoundError(errno.ENOENT, "no path")
        parts = path.split("/")
        end = ["."] if parts[-1] in ("", ".", "..") else []
        self._pending += [*end, *reversed([part for part in parts if part not in ("", ".")])]

    def open(self, *, flags: int, mode: int) -> int:
        while True:
            part = self._pending.pop()
            target = None if part in (".", "..") else self._link(part)
            if part == "." and self._pending:
                continue  # the folder that the walk stands in; entered twice, it would have to be left twice
            if part == "..":
                self._leave()
            elif target is not None and (self._pending or not flags & os.O_NOFOLLOW):
                self._follow(target)
            elif self._pending:
                self._folders.append(os.open(part, _FOLDER, dir_fd=self._folders[-1]))
            else:
                return os.open(part, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=self._folders[-1])

    def close(self) -> None:
        for folder in self._folders:
            os.close(folder)

    def _link(self, part: str) -> str | None:
        """Where a name points to; nothing where it is no link, or not there."""
        try:
            return os.readlink(part, dir_fd=self._folders[-1])
        except OSError as failure:
            if failure.errno in (errno.EINVAL, errno.ENOENT):
                return None
            raise

    def _follow(self, target: str) -> None:
        self._links -= 1
        if self._links < 0:
            raise OSError(errno.ELOOP, "too many links")
        self.head_for(target)

    def _leave(self) -> None:
        if len(self._folders) == 1:
            raise OSError(errno.EXDEV, "above the folder")
        os.close(self._folders.pop())
