"""Arguments of a call as they are typed: one JSON object, or `-` for standard input.

Takes: text from a stranger.  Gives: plain JSON data.  Never: lets a duplicate key, NaN or a huge number through.
"""

from __future__ import annotations

import sys
from typing import Any, cast

from ringfence.contract.bounds import INPUT_BYTES
from ringfence.contract.values import NotPlain, parse_json
from ringfence.errors import Misuse

_REMEDY = """write the arguments as one JSON object, like '{"name": "Ada"}', or `-` to read it from standard input"""


def read_arguments(typed: str) -> dict[str, Any]:
    """The arguments of a call."""
    text: str | bytes = sys.stdin.buffer.read(INPUT_BYTES + 1) if typed == "-" else typed
    try:
        value = parse_json(text)
    except NotPlain as problem:
        raise Misuse(f"the arguments cannot be read: {problem}", remedy=_REMEDY) from None
    if not isinstance(value, dict):
        raise Misuse("the arguments are not a JSON object", remedy=_REMEDY)
    return cast(dict[str, Any], value)
