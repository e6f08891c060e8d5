"""What stops a tool that takes more than its share (lines 83 to 94); floods and deadlines are in `test_overload.py`."""

from __future__ import annotations

from collections.abc import Mapping

from tests.attack.row import Privilege, Row, everywhere

_LIMITS = "stopped by resource limits"


def _row(line: int, words: str, *, expected: Mapping[Privilege, str]) -> Row:
    name = f"line_{line:03}_{words}"
    return Row(line=line, module="resources", probe=name, expected=expected, control=everywhere("probe"))


ROWS: tuple[Row, ...] = (
    _row(83, "memory", expected=everywhere("memory_limit")),
    _row(83, "memory_as_stack", expected=everywhere("stopped by seccomp: EPERM")),
    _row(83, "memory_made_read_only", expected=everywhere("memory_limit")),
    _row(83, "memory_that_is_shared", expected=everywhere("stopped by seccomp: EPERM")),
    _row(83, "memory_of_the_kernel", expected=everywhere(f"{_LIMITS}: EMFILE")),
    _row(84, "locked_memory", expected=everywhere("stopped by seccomp: EPERM")),
    _row(84, "boundless_memory", expected=everywhere(f"{_LIMITS}: ENOMEM")),
    _row(85, "scratch_bytes", expected=everywhere("stopped by fresh scratch: ENOSPC")),
    _row(85, "one_large_file", expected=everywhere(f"{_LIMITS}: EFBIG ENOSPC")),
    _row(86, "scratch_files", expected=everywhere("stopped by fresh scratch: ENOSPC")),
    _row(87, "descriptors", expected=everywhere(f"{_LIMITS}: EMFILE")),
    _row(92, "packed_bomb", expected=everywhere("memory_limit")),
    _row(92, "archive_bomb", expected=everywhere("stopped by fresh scratch: ENOSPC")),
    _row(94, "kernel_objects", expected=everywhere("stopped by seccomp: EPERM")),
    _row(94, "events_and_polls", expected=everywhere(f"{_LIMITS}: EMFILE")),
)
