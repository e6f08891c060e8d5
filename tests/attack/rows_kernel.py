"""What stops the kernel surface attacks (lines 108 to 115)."""

from __future__ import annotations

from tests.attack.row import Row, everywhere

ROWS: tuple[Row, ...] = (
    Row(
        line=111,
        module="kernel",
        probe="line_111_personality",
        expected=everywhere("stopped by seccomp: EPERM"),
        control=everywhere("probe"),
    ),
)
