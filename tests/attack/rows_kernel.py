"""What stops a tool that looks for open parts of the kernel (lines 108 to 114; 115 is in `test_jail_faults.py`)."""

from __future__ import annotations

from collections.abc import Mapping

from tests.attack.row import Privilege, Row, everywhere, root_or_user

_PROBE = everywhere("probe")
_BY_ROOT = root_or_user("probe", "probe by root")
_NO_CALL = everywhere("stopped by seccomp: EPERM")
_UNKNOWN_CALL = everywhere("stopped by seccomp: ENOSYS")


def _row(
    line: int,
    words: str,
    expected: Mapping[Privilege, str] = _NO_CALL,
    *,
    control: Mapping[Privilege, str] = _PROBE,
) -> Row:
    return Row(line=line, module="kernel", probe=f"line_{line:03}_{words}", expected=expected, control=control)


ROWS: tuple[Row, ...] = (
    _row(108, "calls_for_root", control=_BY_ROOT),
    _row(108, "calls_for_all", control=_BY_ROOT),
    _row(108, "calls_long_gone"),
    _row(109, "namespace_by_clone3", _UNKNOWN_CALL),
    _row(109, "namespace_by_clone"),
    _row(109, "spare_of_its_own"),
    _row(110, "commands_to_devices"),
    _row(111, "personality"),
    _row(112, "own_listener"),
    _row(113, "call_that_no_filter_sees", everywhere("protocol_error"), control=everywhere("probe that kills itself")),
    _row(113, "calls_beyond_the_table", _UNKNOWN_CALL, control=everywhere("unknown to the kernel too")),
    _row(114, "inherited_ring", everywhere("stopped by closed descriptors: EBADF")),
)
