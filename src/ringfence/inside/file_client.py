"""`ctx.files`: the granted part of the agent's workspace, by paths that the kernel keeps beneath it.

Takes: the workspace and the granted places.  Gives: text, bytes, names and open files.  Never: opens what was not
granted; such a path is `path_not_reachable`, also where nothing is there.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from typing import IO, Any, ParamSpec, TypeVar

from ringfence.errors import PathNotReachable
from ringfence.inside.files import Root, list_beneath, open_beneath, safe_resolve

Given = ParamSpec("Given")
Value = TypeVar("Value")


class Files:
    """Blocking, for tools that are plain functions."""

    def __init__(self, root: str, *, granted: Sequence[str]) -> None:
        self._root = root
        self._granted = tuple(granted)

    def read_text(self, path: Root, *, encoding: str = "utf-8") -> str:
        with self.open(path, "r", encoding=encoding) as file:
            text: str = file.read()
        return text

    def read_bytes(self, path: Root) -> bytes:
        with self.open(path, "rb") as file:
            content: bytes = file.read()
        return content

    def write_text(self, path: Root, text: str, *, encoding: str = "utf-8") -> None:
        with self.open(path, "w", encoding=encoding) as file:
            file.write(text)

    def write_bytes(self, path: Root, content: bytes) -> None:
        with self.open(path, "wb") as file:
            file.write(content)

    def list(self, path: Root = ".") -> list[str]:
        """The names in a folder, in order."""
        try:
            return list_beneath(self._root, path)
        except OSError:
            granted = self._granted_in(path)
            if granted:
                return [*granted]
            self._require_granted(path)
            raise

    def open(self, path: Root, mode: str = "r", *, encoding: str | None = None) -> IO[Any]:
        """As the built-in `open`, for a regular file beneath the workspace."""
        try:
            return open_beneath(self._root, path, mode, encoding=encoding)
        except OSError:
            self._require_granted(path)
            raise

    def _granted_in(self, path: Root) -> Sequence[str]:
        """Of a folder that was not granted itself, what was granted in it, as a mount would show it."""
        name = str(safe_resolve(self._root, path))
        below = [place.removeprefix(f"{name}/") for place in self._granted if place.startswith(f"{name}/")]
        return sorted({each.split("/")[0] for each in below})

    def _require_granted(self, path: Root) -> None:
        """What was not granted is not mounted, so that the kernel only says that nothing is there."""
        name = str(safe_resolve(self._root, path))
        if not any(name == place or name.startswith(f"{place}/") for place in self._granted):
            raise PathNotReachable(f"path {os.fspath(path)!r} was not granted to this call")


def _awaited(method: Callable[Given, Value]) -> Callable[Given, Any]:
    @functools.wraps(method)
    async def later(*args: Given.args, **kwargs: Given.kwargs) -> Value:
        return method(*args, **kwargs)

    return later


class AwaitedFiles(Files):
    """The same names, awaited, for tools that are coroutines."""

    def __init__(self, root: str, *, granted: Sequence[str]) -> None:
        super().__init__(root, granted=granted)
        plain = Files(root, granted=granted)
        for name in ("read_text", "read_bytes", "write_text", "write_bytes", "list", "open"):
            setattr(self, name, _awaited(getattr(plain, name)))
