"""The guards over what a model or a person reads, one line each: take it out, and a test goes red.

Takes: nothing.  Gives: `ROWS`, in the form of the other tables.  Never: removes anything itself.
"""

from __future__ import annotations

_ROLES = "tests/unit/sanitise/test_roles.py::test_"
_MARKDOWN = "tests/unit/sanitise/test_markdown.py::test_"
_CLEAN = "tests/unit/sanitise/test_clean.py::test_"
_MEDIA = "tests/unit/sanitise/test_media.py::test_"
_GATE = "tests/unit/registry/test_integrity.py::test_"
_RAW = "tests/acceptance/spine/test_raw.py::test_"
_DOORS = "tests/acceptance/spine/test_doors.py::test_"

ROWS: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    ("SAN-1", "sanitise/clean.py", "    roles.tokens,\n", "", (f"{_ROLES}a_token_becomes_its_name_in_brackets",)),
    (
        "SAN-1",
        "sanitise/clean.py",
        "    markdown.constructs,\n",
        "",
        (f"{_MARKDOWN}a_token_cannot_be_made_into_a_link",),
    ),
    ("SAN-1", "sanitise/clean.py", "    credentials.redacted,\n", "", (f"{_RAW}each_redaction_is_a_security_event",)),
    (
        "SAN-1",
        "sanitise/clean.py",
        "if isinstance(value, bytes) and (kind := sniffed(value)):",
        'if isinstance(value, bytes) and (kind := ""):',
        (f"{_MEDIA}an_image_is_never_read_as_text",),
    ),
    (
        "SAN-1",
        "sanitise/roles.py",
        "[(0, text)] if text.isascii() else list(_plain_parts(text))",
        "[(0, text)]",
        (f"{_ROLES}full_width_makes_no_difference",),
    ),
    (
        "SAN-1",
        "sanitise/fences.py",
        "return bool(_UNCLEAR.search(text, start, fence) or _TAG_LINE.search(text, paragraph, fence))",
        "return False",
        (f"{_MARKDOWN}what_some_reader_could_show_is_no_code_block",),
    ),
    (
        "SAN-4",
        "sanitise/clean.py",
        "and rounds < _MOST_ROUNDS:",
        "and rounds < 1:",
        (f"{_CLEAN}what_a_marker_brings_together_is_looked_at_again",),
    ),
    (
        "SAN-4",
        "sanitise/clean.py",
        "        if again == cut.text:\n            break\n",
        "        break\n",
        (f"{_CLEAN}what_a_marker_brings_together_is_looked_at_again",),
    ),
    (
        "SAN-3",
        "sanitise/structure.py",
        "        if problem:\n",
        "        if False:\n",
        (f"{_MEDIA}media_that_is_not_what_it_says_is_withheld",),
    ),
    (
        "SAN-2",
        "runtime/recording.py",
        '"raw": parts.seal.sealed(clean.raw.document(), about=case.id),',
        '"raw": str(clean.raw.document()),',
        (f"{_RAW}nothing_of_the_raw_text_lies_open_in_the_store",),
    ),
    (
        "SAN-2",
        "runtime/recording.py",
        "    if grave:\n",
        "    if False:\n",
        (f"{_RAW}each_redaction_is_a_security_event",),
    ),
    (
        "SAN-2",
        "runtime/audit.py",
        'await require_operator(self._parts, by, wanted="raw_read")',
        "pass",
        (f"{_RAW}only_an_operator_reads_raw_output_and_both_are_on_record",),
    ),
    (
        "SAN-2",
        "audit/sealing.py",
        "if version != _VERSION or name != self.name:",
        "if False:",
        (f"{_RAW}another_key_opens_nothing",),
    ),
    (
        "SAN-2",
        "assembly/raw_key.py",
        "if stat.S_IMODE(path.stat().st_mode) & 0o077:",
        "if False:",
        (f"{_RAW}a_key_that_others_can_read_is_refused",),
    ),
    (
        "SAN-2",
        "assembly/raw_key.py",
        "os.O_EXCL, 0o600)",
        "os.O_EXCL, 0o644)",
        (f"{_RAW}the_key_is_made_outside_the_store_for_its_owner_alone",),
    ),
    (
        "SAN-5",
        "runtime/recording.py",
        'return visible(clean_output(lines, limit=_TRACE_BYTES).text, lines="many")',
        "return lines",
        (f"{_DOORS}no_door_lets_hostile_words_through",),
    ),
    (
        "SAN-5",
        "runtime/recording.py",
        'shown = visible(clean_output(message, limit=_MESSAGE_BYTES).text, lines="many")',
        "shown = message",
        (f"{_DOORS}no_door_lets_hostile_words_through",),
    ),
    (
        "REG-2",
        "sanitise/scan.py",
        "(_threats, signatures.found)",
        "(_threats,)",
        (f"{_GATE}every_string_that_a_model_reads_is_looked_at",),
    ),
    (
        "REG-2",
        "registry/integrity.py",
        '            yield (f"a name in {where}", key)\n',
        "",
        (f"{_GATE}every_string_that_a_model_reads_is_looked_at",),
    ),
    (
        "REG-2",
        "registry/integrity.py",
        '        *(("a label", label) for label in tool.labels),\n',
        "",
        (f"{_GATE}every_string_that_a_model_reads_is_looked_at",),
    ),
)
