"""Programs that run whatever they are told to: to list one is to list everything it can be made to do.

Takes: a binary's name.  Gives: why it counts as an interpreter, if it does.  Never: looks at a file.

A program that only starts others (`find`, `env`, `tar`) is not one: what it starts has to be listed too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_VERSION = re.compile(r"[-.]?\d[\d.]*$")

INTERPRETERS: Mapping[str, str] = {
    "sh": "runs scripts",
    "dash": "runs scripts",
    "bash": "runs scripts",
    "zsh": "runs scripts",
    "ksh": "runs scripts",
    "fish": "runs scripts",
    "busybox": "is a shell and a hundred other programs",
    "python": "runs programs given as text",
    "pypy": "runs programs given as text",
    "perl": "runs programs given as text",
    "ruby": "runs programs given as text",
    "node": "runs programs given as text",
    "nodejs": "runs programs given as text",
    "deno": "runs programs given as text",
    "bun": "runs programs given as text",
    "php": "runs programs given as text",
    "lua": "runs programs given as text",
    "luajit": "runs programs given as text",
    "tclsh": "runs programs given as text",
    "guile": "runs programs given as text",
    "rscript": "runs programs given as text",
    "java": "runs programs given as files",
    "awk": "runs programs given as text, and starts others",
    "gawk": "runs programs given as text, and starts others",
    "mawk": "runs programs given as text, and starts others",
}


def interpreter(name: str) -> str | None:
    """What makes this binary an interpreter; a version at the end of its name changes nothing."""
    base = name.rpartition("/")[2].lower()
    return INTERPRETERS.get(base) or INTERPRETERS.get(_VERSION.sub("", base))
