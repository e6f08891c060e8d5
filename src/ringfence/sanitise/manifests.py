"""What a manifest of Kubernetes keeps in a Secret is one, whatever it is called.

Takes: text.  Gives: where the values of `data` and `stringData` stand, in every document whose kind is Secret.
Never: parses YAML; a manifest may be cut short, indented or part of a log.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

NAME = "kubernetes-secret"
REASON = "a value of `data` or `stringData` in a manifest of kind Secret"
FOUND = "kind: Secret\ndata:\n  extra: <20>=="
PASSED = "kind: ConfigMap\ndata:\n  extra: <20>=="

OPENING = r"(?i:kind)[\"']?[ \t]*:[ \t]*[\"']?(?i:secret)"

_KIND = re.compile(r"(?im)^[ \t]{0,20}[\"']?kind[\"']?[ \t]*:[ \t]*[\"']?secret[\"']?[ \t]*,?[ \t]*\r?$")
_DOCUMENT = re.compile(r"(?m)^---")
_BLOCK = re.compile(r"^([ \t]*)[\"']?(?:data|stringData)[\"']?[ \t]*:")
_VALUE = re.compile(
    r"[ \t]*(?:[\"']?[\w./-]{1,80}[\"']?[ \t]*:[ \t]*)?[\"']?([A-Za-z0-9+/_.@!#^&-]{8,}={0,2})[\"']?,?[ \t]*\r?$"
)


def values(text: str) -> Iterator[tuple[int, int]]:
    """The span of each value, in order."""
    if _KIND.search(text) is None:
        return
    start = 0
    for edge in (*(match.start() for match in _DOCUMENT.finditer(text)), len(text)):
        if _KIND.search(text, start, edge):
            yield from _of_document(text, start, edge)
        start = edge


def _of_document(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    indent: int | None = None
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        line = text[start:stop]
        if block := _BLOCK.match(line):
            indent = len(block[1])
        elif line.strip() and indent is not None and len(line) - len(line.lstrip()) <= indent:
            indent = None
        elif indent is not None and (value := _VALUE.fullmatch(line)):
            yield start + value.start(1), start + value.end(1)
        start = stop + 1
