"""Programs that lie among the libraries: a loader could be told to run them, so that a jail with programs hides them.

Takes: folders that a jail maps code from.  Gives: the paths of programs in them.  Never: opens a file that nobody may
execute, follows a link, or looks twice in one process.

To look takes up to a second, so that whoever serves others asks first whether a folder was read, and reads it apart.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from ringfence.sandbox.elf import HEAD_BYTES, read_head

_SHARED = ".so"
# Never code of the processor's, and most of what lies in such folders.
_TEXTS = (".py", ".pyc", ".pyi", ".h", ".txt", ".js", ".json", ".md", ".pm", ".a", ".o", ".html", ".yaml")


_found: dict[str, tuple[str, ...]] = {}


def programs_in(folder: str) -> tuple[str, ...]:
    """Every ELF program in and below a folder, but for shared libraries that can also be started."""
    if folder not in _found:
        _found[folder] = tuple(sorted(path for path in _executable(folder) if _is_program(path)))
    return _found[folder]


def was_read(folder: str) -> bool:
    """Whether `programs_in` answers at once."""
    return folder in _found


def _executable(folder: str) -> Iterator[str]:
    folders = [folder]
    while folders:
        for entry in _entries(folders.pop()):
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            elif not entry.name.endswith(_TEXTS) and _may_run(entry):
                yield entry.path


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """What is in a folder; nothing where it cannot be listed, for then it cannot be listed in a jail either."""
    try:
        return list(os.scandir(folder))
    except OSError:
        return []


def _may_run(entry: os.DirEntry[str]) -> bool:
    return entry.is_file(follow_symlinks=False) and bool(entry.stat(follow_symlinks=False).st_mode & 0o111)


def _is_program(path: str) -> bool:
    if _SHARED in os.path.basename(path):
        return False
    try:
        with open(path, "rb") as file:
            head = read_head(file.read(HEAD_BYTES))
    except OSError:
        return False
    return head.program and not head.script
