"""What stops the same tools when programs were listed for them (lines 19 and 60 to 82).

Left out: 70 and 81, children that nobody waits for; with a list they may be born, and the call's end ends them
(`integration/sandbox/test_processes.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tests.attack import rows_filesystem, rows_process
from tests.attack.row import Privilege, Row, everywhere

SUFFIX = "_with_processes"
MODULE = "granted_processes"
_PROBE = everywhere("probe")
_ABSENT = everywhere("stopped by mount namespace: ENOENT")
_NO_RIGHT = everywhere("stopped by landlock: EACCES")

OTHERWISE: Mapping[str, Mapping[Privilege, str]] = {
    "line_019_setuid_program": _ABSENT,
    "line_060_unlisted_program": _ABSENT,
    "line_061_own_program": _NO_RIGHT,
    "line_063_program_in_memory": everywhere("stopped by landlock: EACCES EPERM"),
    "line_064_script": _NO_RIGHT,
    "line_065_other_names": _ABSENT,
    "line_068_fork_bomb": everywhere("stopped by resource limits: EAGAIN"),
    "line_076_descriptor_of_the_launcher": everywhere("stopped by pid namespace: ESRCH"),
}
# What a list gives, and what is tried otherwise below.
GIVEN = frozenset({"line_062_loader", "line_070_daemon", "line_080_other_ways_to_clone", "line_081_zombies"})


def _again(row: Row) -> Row:
    expected = OTHERWISE.get(row.probe, row.expected)
    return replace(row, module=MODULE, probe=row.probe + SUFFIX, expected=expected)


def _row(line: int, words: str, expected: str, *, control: Mapping[Privilege, str] = _PROBE) -> Row:
    probe = f"line_{line:03}_{words}{SUFFIX}"
    return Row(line=line, module=MODULE, probe=probe, expected=everywhere(expected), control=control)


_BEFORE = tuple(row for row in rows_filesystem.ROWS if row.module == "programs")

ROWS: tuple[Row, ...] = (
    *(_again(row) for row in (*_BEFORE, *rows_process.ROWS) if row.probe not in GIVEN),
    _row(62, "loader_runs_another", "stopped by landlock"),
    _row(66, "replace_a_listed_program", "stopped by read-only mounts: EROFS EXDEV EACCES EBUSY",
         control=everywhere("probe on a copy")),
    _row(67, "dangerous_arguments", "stopped by landlock: EACCES"),
    _row(67, "preloaded_library", "stopped by mounts without code: EACCES"),
    _row(80, "children_apart", "stopped by seccomp: EPERM ENOSYS"),
)  # fmt: skip
