"""What stops the same tools when files of the agent were granted to them (lines 1 to 30)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tests.attack import rows_filesystem
from tests.attack.row import Privilege, Row, everywhere

SUFFIX = "_with_files"
MODULE = "granted_files"
_NO_LINK = everywhere("stopped by landlock: EACCES")
_OWN = everywhere("probe among files")

# Where a granted folder changes the answer: a link cannot be made there, and nothing is thrown away after a call.
OTHERWISE: Mapping[str, Mapping[Privilege, str]] = {
    "line_003_symbolic_link": _NO_LINK,
    "line_004_chain_of_links": _NO_LINK,
    "line_008_magic_link": everywhere("stopped by closed descriptors: ENOENT ENOSYS"),
    "line_015_race": _NO_LINK,
}
# These show that scratch does not outlive a call; a granted folder does, and is meant to. A loop needs links.
KEPT = frozenset(
    {
        "line_004_loop_of_links",
        "line_027_a_mess",
        "line_028_planted_modules",
        "line_029_scratch_of_another_call",
    }
)


def _again(row: Row) -> Row:
    expected = OTHERWISE.get(row.probe, row.expected)
    return replace(row, module=MODULE, probe=row.probe + SUFFIX, expected=expected)


def _row(line: int, words: str, expected: str, *, control: Mapping[Privilege, str] = _OWN) -> Row:
    probe = f"line_{line:03}_{words}{SUFFIX}"
    return Row(line=line, module=MODULE, probe=probe, expected=everywhere(expected), control=control)


ROWS: tuple[Row, ...] = (
    *(_again(row) for row in rows_filesystem.ROWS if row.probe not in KEPT),
    _row(3, "planted_link", "stopped by mount namespace: ENOENT"),
    _row(5, "hard_link_out_of_what_is_read", "stopped by kernel: EXDEV"),
    _row(16, "path_argument", "stopped by kernel: EXDEV ENOENT", control=everywhere("probe with careless files")),
    _row(19, "leave_a_set_id_program", "stopped by seccomp: EPERM ENOSYS"),
    _row(21, "change_what_was_granted_for_reading", "stopped by read-only mounts: EROFS"),
)
