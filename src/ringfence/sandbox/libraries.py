"""Shared libraries of listed programs that lie where no other program's do: each such file, and no folder of them.

Takes: programs, and the folders that every jail with programs maps code from.  Gives: `Program` values of libraries.
Never: names a file that a program does not ask for by name.

The loader looks where the program says (RPATH, RUNPATH, `$ORIGIN`), where `/etc/ld.so.conf` says, and in its own
folders. What a program opens while it runs (`dlopen`) and did not ask for by name is found in the usual folders alone.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache

from ringfence.inside.layout import Program, identity_of
from ringfence.sandbox.elf_dynamic import Wants, read_wants

_SETTINGS = "/etc/ld.so.conf"
_LAST = ("/lib64", "/usr/lib64", "/lib", "/usr/lib")
_LIB = ("lib64", "lib/x86_64-linux-gnu", "lib")
_MOST = 1_024
_MOST_NESTED = 8


class Libraries:
    """What was found for each list of programs, looked up again when one of its files is another by now."""

    def __init__(self) -> None:
        self._found: dict[tuple[Program, ...], tuple[Program, ...]] = {}

    def of(self, programs: tuple[Program, ...], *, usual: Callable[[], Sequence[str]]) -> tuple[Program, ...]:
        """The library files of these programs that lie outside the usual folders."""
        known = self._found.get(programs)
        if known is None or any(_library(each.place) != each for each in known):
            known = libraries_of(programs, usual=usual())
            self._found = {**self._found, programs: known} if len(self._found) < _MOST else {programs: known}
        return known


def libraries_of(programs: Sequence[Program], *, usual: Sequence[str]) -> tuple[Program, ...]:
    """Every library file that these programs need and that lies, or is named, outside the usual folders."""
    found: dict[str, Program] = {}
    for program in programs:
        waiting: list[tuple[str, tuple[str, ...]]] = [(program.path, ())]
        asked: set[str] = set()
        while waiting and len(asked) < _MOST:
            path, inherited = waiting.pop()
            wants = _wants(path)
            rpath = () if wants.runpath else (*_expanded(wants.rpath, path=path), *inherited)[:_MOST]
            for place in _places(wants, path=path, rpath=rpath):
                library = None if place in asked else _library(place)
                asked.add(place)
                if library is None:
                    continue
                waiting.append((library.path, rpath or inherited))
                if not (_within(library.path, usual) and _within(place, usual)):
                    found[place] = library
    return tuple(found.values())


def _places(wants: Wants, *, path: str, rpath: tuple[str, ...]) -> Iterator[str]:
    """Where the loader finds each library, its folder without links; the name itself may be one."""
    folders = (*rpath, *_expanded(wants.runpath, path=path), *_settings(), *_LAST)
    for name in wants.needed:
        candidates = [name] if name.startswith("/") else [f"{folder}/{name}" for folder in folders if "/" not in name]
        place = next((each for each in candidates if os.path.isfile(each)), None)
        if place is not None:
            yield os.path.join(os.path.realpath(os.path.dirname(place)), os.path.basename(place))


def _expanded(folders: Sequence[str], *, path: str) -> Iterator[str]:
    """Folders as the loader reads them; one that is not absolute by then depends on where the caller stands."""
    origin = os.path.dirname(path)
    for folder in folders:
        text = folder.replace("${ORIGIN}", origin).replace("$ORIGIN", origin)
        for lib in _LIB if "LIB" in text else ("",):
            spelled = text.replace("${LIB}", lib).replace("$LIB", lib)
            if spelled.startswith("/") and "$" not in spelled:
                yield os.path.normpath(spelled)


def _library(place: str) -> Program | None:
    """One library file as it is now; None where it is gone."""
    real = os.path.realpath(place)
    try:
        seen = os.stat(real)
    except OSError:
        return None
    changed = str(seen.st_ctime_ns)
    name = os.path.basename(place)
    return Program(name=name, place=place, path=real, loader=None, identity=identity_of(seen), changed=changed)


def _wants(path: str) -> Wants:
    try:
        seen = os.stat(path)
    except OSError:
        return Wants()
    return _read(path, identity_of(seen), seen.st_ctime_ns)


@lru_cache(maxsize=_MOST)
def _read(path: str, _identity: str, _changed: int) -> Wants:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return Wants()
    try:
        return read_wants(descriptor)
    finally:
        os.close(descriptor)


@cache
def _settings() -> tuple[str, ...]:
    """The folders that this machine's loader is told of."""
    return tuple(dict.fromkeys(_listed(_SETTINGS, nested=_MOST_NESTED)))


def _listed(path: str, *, nested: int) -> Iterator[str]:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            lines = [line.partition("#")[0].strip() for line in file]
    except OSError:
        return
    for line in lines:
        word, _, rest = line.partition(" ")
        if word == "include" and nested:
            pattern = os.path.join(os.path.dirname(path), rest.strip())
            for inner in sorted(glob.glob(pattern)):
                yield from _listed(inner, nested=nested - 1)
        elif line.startswith("/"):
            yield line


def _within(path: str, folders: Sequence[str]) -> bool:
    return any(path.startswith(folder.rstrip("/") + "/") for folder in folders)
