"""A new file for what a command writes: readable by its owner alone, and never over another.

Takes: a path that was typed.  Gives: an open file.  Never: overwrites.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO, TextIO

from ringfence.errors import Misuse


def new_file(output: str) -> TextIO:
    """A new file for text."""
    return os.fdopen(_made(output), "w", encoding="utf-8")


def new_binary_file(output: str) -> BinaryIO:
    """A new file for bytes."""
    return os.fdopen(_made(output), "wb")


def _made(output: str) -> int:
    try:
        return os.open(Path(output), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        reason = (error.strerror or "it cannot be made").lower()
        raise Misuse(
            f"`{output}` cannot be written: {reason}", remedy="name a new file in a folder that exists"
        ) from None
