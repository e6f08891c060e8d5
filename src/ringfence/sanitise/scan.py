"""A description is looked at before anyone reads it: what in it is hidden or dangerous?

Takes: the text of a description, title or schema.  Gives: the findings.  Never: changes the text; decides what follows.

`SCANS` is the list of looks; a further one is one line there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ringfence.sanitise import clean, signatures
from ringfence.sanitise.finding import Finding

# What honest documentation is full of, and what is made harmless where it is shown.
HONEST: dict[str, str] = {
    "markdown_fetch": "a description names the pages that explain it, and is not rendered for a model",
    "html": "a description of a tool for web pages has elements in it",
}


def scan_description(text: str) -> list[Finding]:
    """Every finding, in the order of the text."""
    findings = [finding for look in SCANS for finding in look(text)]
    return sorted(findings, key=lambda finding: finding.span)


def _threats(text: str) -> Sequence[Finding]:
    return [finding for finding in clean.scan(text) if finding.kind not in HONEST]


SCANS: tuple[Callable[[str], Sequence[Finding]], ...] = (_threats, signatures.found)
