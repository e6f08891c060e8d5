"""The guards over credentials and over orders to a model, one line each: take it out, and a test goes red.

Takes: nothing.  Gives: `ROWS`, in the form of the other tables.  Never: removes anything itself.
"""

from __future__ import annotations

_CREDENTIALS = "tests/unit/sanitise/test_credentials.py::test_"
_SIGNATURES = "tests/unit/sanitise/test_signatures.py::test_"

ROWS: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    (
        "SAN-1",
        "sanitise/credentials.py",
        "_end_of_key(text, match.end()) if row.id == PRIVATE_KEY else match.end()",
        "match.end()",
        (f"{_CREDENTIALS}a_private_key_goes_with_its_body_and_what_follows_stays",),
    ),
    (
        "SAN-1",
        "sanitise/credentials.py",
        "    return before.start() if before else None\n",
        "    return before.start() if before else start\n",
        (f"{_CREDENTIALS}what_has_to_stand_before_is_taken_too_and_missed_where_it_is_not",),
    ),
    (
        "SAN-1",
        "sanitise/randomness.py",
        "if _REFERENCE.match(value) or len(set(value)) < _FEWEST_DIFFERENT:",
        "if len(set(value)) < _FEWEST_DIFFERENT:",
        (f"{_CREDENTIALS}a_reference_to_a_secret_is_not_a_secret",),
    ),
    (
        "SAN-2",
        "sanitise/normal.py",
        "self.plain = self._raw if self._raw.isascii() else self._raw.translate(_table())",
        "self.plain = self._raw",
        (f"{_SIGNATURES}an_order_is_found_in_any_dress",),
    ),
    (
        "SAN-2",
        "sanitise/normal.py",
        "    if pieces:\n        yield Pieces(pieces)\n",
        "",
        (f"{_SIGNATURES}an_order_is_found_in_any_dress",),
    ),
    (
        "SAN-2",
        "sanitise/signatures.py",
        "        if len(findings) >= MOST_FINDINGS:\n            break\n",
        "",
        (f"{_SIGNATURES}findings_say_how_bad_it_is_and_end_at_a_bound",),
    ),
    (
        "REG-2",
        "sanitise/signatures.py",
        'return tuple(row for row in rows if row.surface in ("any", reader))',
        "return rows",
        (f"{_SIGNATURES}what_steers_a_description_is_a_finding_there_and_not_in_output",),
    ),
)
