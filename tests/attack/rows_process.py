"""What stops a tool that runs programs, multiplies, outlives its call or reaches into others (lines 60 to 82).

Left out: 66 and 67, tricks with listed programs; a tool without a `Processes` need has no list.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from tests.attack.row import Privilege, Row, everywhere, root_or_user

_LAST_OF_PROGRAMS = 65
_PROBE = everywhere("probe")
_BY_ROOT = root_or_user("probe", "probe by root")
_BESIDE_OTHERS = everywhere("probe in a pid namespace")
_NO_CALL = everywhere("stopped by seccomp: EPERM")


def _row(
    line: int,
    words: str,
    expected: Mapping[Privilege, str] = _NO_CALL,
    *,
    control: Mapping[Privilege, str] = _PROBE,
    pace: Literal["quick", "long"] = "quick",
) -> Row:
    module = "programs" if line <= _LAST_OF_PROGRAMS else "process"
    probe = f"line_{line:03}_{words}"
    return Row(line=line, module=module, probe=probe, expected=expected, control=control, pace=pace)


ROWS: tuple[Row, ...] = (
    _row(60, "unlisted_program"),
    _row(61, "own_program"),
    _row(62, "loader"),
    _row(63, "program_in_memory"),
    _row(64, "script"),
    _row(65, "other_names"),
    _row(68, "fork_bomb"),
    _row(69, "thread_bomb", everywhere("stopped by resource limits: EAGAIN")),
    _row(70, "daemon"),
    _row(71, "stubborn", everywhere("wall_limit"), control=everywhere("probe that outlives a signal"), pace="long"),
    _row(72, "waits_for_ever", everywhere("wall_limit"), control=everywhere("probe that waits"), pace="long"),
    _row(73, "signal_others", everywhere("stopped by pid namespace: ESRCH EPERM"), control=_BESIDE_OTHERS),
    _row(73, "signal_neighbours", everywhere("stopped by pid namespace: ESRCH"), control=_BESIDE_OTHERS),
    _row(74, "trace"),
    _row(75, "memory_of_the_launcher", everywhere("stopped by pid namespace: ENOENT EPERM")),
    _row(76, "descriptor_of_the_launcher"),
    _row(77, "sibling_call", everywhere("stopped by pid namespace: ESRCH"), control=_BESIDE_OTHERS),
    _row(78, "escape_the_reaper"),
    _row(79, "priority", control=_BY_ROOT),
    _row(80, "other_ways_to_clone", everywhere("stopped by seccomp: EPERM ENOSYS")),
    _row(81, "zombies"),
    _row(82, "x32_call", everywhere("protocol_error")),
    _row(82, "i386_call", everywhere("protocol_error")),
)
