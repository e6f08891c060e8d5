"""A description is looked at before anyone reads it: what in it is hidden or dangerous?

Takes: the text of a description, title or schema.  Gives: the findings.  Never: changes the text; decides what follows.

`SCANS` is the list of looks; a further one is one line there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ringfence.sanitise import clean
from ringfence.sanitise.finding import Finding

SCANS: tuple[Callable[[str], Sequence[Finding]], ...] = (clean.scan,)


def scan_description(text: str) -> list[Finding]:
    """Every finding, in the order of the text."""
    findings = [finding for look in SCANS for finding in look(text)]
    return sorted(findings, key=lambda finding: finding.span)
