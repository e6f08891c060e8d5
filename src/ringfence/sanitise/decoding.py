"""Whatever bytes came, the rest of the house sees valid Unicode.

Takes: bytes or text.  Gives: text in which each bad byte is one lone surrogate, and the edits that replace those.
Never: guesses an encoding; fails.

One character for each bad byte keeps spans in step with the raw text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ringfence.sanitise.edits import Edit

SURROGATES = "\ud800-\udfff"
_LONE = re.compile(f"[{SURROGATES}]+")


def decoded(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", errors="surrogateescape")


def repair(text: str) -> Sequence[Edit]:
    """Every lone surrogate, replaced by U+FFFD."""
    return [Edit(m.start(), m.end(), "invalid_text", "\ufffd" * len(m[0])) for m in _LONE.finditer(text)]
