"""What tests ask about descriptors by their numbers."""

from __future__ import annotations

import os


def is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True
