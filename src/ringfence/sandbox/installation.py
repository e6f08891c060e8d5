"""Which files of this machine an interpreter needs, and no project folder among them.

Takes: the running interpreter.  Gives: a frozen value.  Never: names a folder because a path variable or a `.pth` file
does.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import ringfence

_DISTRIBUTION_FOLDERS = frozenset({"site-packages", "dist-packages"})


@dataclass(frozen=True, kw_only=True)
class Installation:
    """An interpreter, where its library and its distributions lie, and the folder of this package."""

    executable: str
    library: str
    standard: tuple[str, ...]
    distributions: tuple[str, ...]
    package: str

    @property
    def import_path(self) -> tuple[str, ...]:
        own = os.path.dirname(self.package)
        return (*self.standard, *dict.fromkeys((*self.distributions, own)))

    @property
    def start_script(self) -> str:
        return os.path.join(self.package, "inside", "start.py")


def this_installation() -> Installation:
    """The interpreter that runs the host."""
    standard = sysconfig.get_path("stdlib")
    candidates = (standard, sysconfig.get_path("platstdlib"), os.path.join(standard, "lib-dynload"))
    found = (path for path in sys.path if os.path.basename(path) in _DISTRIBUTION_FOLDERS and os.path.isdir(path))
    return Installation(
        executable=sys.executable,
        library=os.path.join(sys.base_prefix, "lib"),
        standard=tuple(path for path in dict.fromkeys(candidates) if os.path.isdir(path)),
        distributions=tuple(dict.fromkeys(map(os.path.abspath, found))),
        package=str(Path(ringfence.__file__).resolve().parent),
    )
