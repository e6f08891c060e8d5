"""What stops the same hostile tools where there are no namespaces: the second table of expected results.

Takes: the table of the full posture.  Gives: what is expected of each probe in the confined one, by Landlock version.
Never: expects less than a stop; what the confined posture leaves open is listed in `ringfence.kernel.closures`.

A path that a mount namespace hides is ENOENT; one that Landlock closes is there and cannot be opened: EACCES. There is
no scratch, so a try that begins by writing a file ends there, unless a folder to write was granted.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.attack.row import Privilege, Row
from tests.attack.rows_granted_files import SUFFIX
from tests.attack.table import TABLE

VERSIONS = (1, 3, 5, 7)
NEWEST = VERSIONS[-1]
# Run with every change; the others are between these two.
OFTEN = (1, NEWEST)

# Expected where a tool declares a need: refused before anything runs.
NOT_ENFORCEABLE = "not_enforceable"
# Expected where the try needs a file of its own to begin with: the tool's own error, a refusal of Landlock's.
NOTHING_TO_BEGIN_WITH = "stopped by landlock before it begins"

_CLOSED = "stopped by landlock: EACCES"
_NO_CALL = "stopped by seccomp: EPERM"
_BOTH = "stopped by seccomp: EPERM EACCES"

DIFFERENT: Mapping[str, str] = {
    "line_001_climb": _CLOSED,
    "line_001_climb_to_shadow": _CLOSED,
    "line_002_absolute": _CLOSED,
    "line_003_symbolic_link": NOTHING_TO_BEGIN_WITH,
    "line_004_chain_of_links": NOTHING_TO_BEGIN_WITH,
    "line_004_loop_of_links": NOTHING_TO_BEGIN_WITH,
    "line_005_hard_link": "stopped by landlock: EACCES EPERM EXDEV",
    "line_006_own_root": _CLOSED,
    "line_007_root_of_process_1": _CLOSED,
    "line_007_root_of_the_launcher": _CLOSED,
    "line_008_magic_link": "stopped by landlock: EACCES ENOENT ENOSYS",
    "line_010_chroot": _BOTH,
    "line_015_race": NOTHING_TO_BEGIN_WITH,
    "line_018_devices": _CLOSED,
    "line_020_file_capability": NOTHING_TO_BEGIN_WITH,
    "line_021_change_what_is_read_only": _BOTH,
    "line_021_touch_a_device": _NO_CALL,
    "line_022_kernel_settings": _CLOSED,
    "line_022_own_score": _CLOSED,
    "line_023_control_groups": _CLOSED,
    "line_024_kernel_files": _CLOSED,
    "line_027_a_mess": NOTHING_TO_BEGIN_WITH,
    "line_028_planted_modules": NOTHING_TO_BEGIN_WITH,
    "line_029_scratch_of_another_call": NOTHING_TO_BEGIN_WITH,
    "line_056_enter_the_hosts_network": _CLOSED,
    "line_061_own_program": NOTHING_TO_BEGIN_WITH,
    "line_063_program_in_memory": _BOTH,
    "line_064_script": NOTHING_TO_BEGIN_WITH,
    "line_065_other_names": NOTHING_TO_BEGIN_WITH,
    "line_073_signal_neighbours": _NO_CALL,
    "line_073_signal_others": _NO_CALL,
    "line_075_memory_of_the_launcher": _BOTH,
    "line_077_sibling_call": _CLOSED,
    "line_085_one_large_file": _CLOSED,
    "line_085_scratch_bytes": _CLOSED,
    "line_086_scratch_files": _CLOSED,
    "line_092_archive_bomb": _CLOSED,
    "line_099_memory": "stopped by landlock: EACCES ENODATA",
    "line_102_shared_memory": _BOTH,
    "line_103_password_file": _CLOSED,
    "line_103_usual_places": _CLOSED,
    "line_106_make_a_terminal": _CLOSED,
    "line_107_about_the_host": "stopped by landlock: EACCES ENOENT ENODATA",
    "line_110_commands_to_devices": NOTHING_TO_BEGIN_WITH,
}  # fmt: skip


# Where files were granted: what can be written there is a beginning for some tries, and what they come to then.
WITH_FILES: Mapping[str, str] = {
    "line_003_planted_link": _CLOSED,
    "line_003_symbolic_link": _CLOSED,
    "line_004_chain_of_links": _CLOSED,
    "line_015_race": _CLOSED,
    "line_020_file_capability": _NO_CALL,
    "line_021_change_what_was_granted_for_reading": _BOTH,
}

# The needs for which this posture has no backend.
_REFUSED_MODULES = frozenset({"granted_processes"})


def expected_confined(row: Row, privilege: Privilege) -> str:
    """What becomes of a probe without namespaces; the same as with them, unless listed."""
    if is_refused(row):
        return NOT_ENFORCEABLE
    plain = row.probe.removesuffix(SUFFIX)
    if plain != row.probe:
        return WITH_FILES.get(plain) or DIFFERENT.get(plain) or row.expected[privilege]
    return DIFFERENT.get(row.probe, row.expected[privilege])


def is_refused(row: Row) -> bool:
    """Whether the tools of a row's module declare a need that this posture does not hold."""
    return row.module in _REFUSED_MODULES


def tried_confined() -> tuple[Row, ...]:
    """Every row that runs, and the first of each module that is refused: a session that is refused too often rests."""
    refused = {row.module: row for row in reversed(TABLE) if is_refused(row)}
    return (*(row for row in TABLE if not is_refused(row)), *refused.values())
