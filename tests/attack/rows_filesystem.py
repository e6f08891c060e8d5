"""What stops a tool that looks for files it was not given (lines 1 to 30).

Left out: 16, a path argument that the host opens; a tool without needs has none.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.attack.row import Privilege, Row, everywhere, root_or_user

_PROBE = everywhere("probe")
_BY_ROOT = root_or_user("probe", "probe by root")
_IN_NAMESPACES = root_or_user("probe", "probe in namespaces")
_NO_FILE = everywhere("stopped by mount namespace: ENOENT")
_NO_CALL = everywhere("stopped by seccomp: EPERM")
_FRESH = everywhere("stopped by fresh scratch")
_TWICE = everywhere("probe twice")


def _row(
    line: int,
    words: str,
    expected: Mapping[Privilege, str],
    *,
    control: Mapping[Privilege, str] = _PROBE,
    module: str = "filesystem",
    times: int = 1,
) -> Row:
    probe = f"line_{line:03}_{words}"
    return Row(line=line, module=module, probe=probe, expected=expected, control=control, times=times)


ROWS: tuple[Row, ...] = (
    _row(1, "climb", _NO_FILE),
    _row(1, "climb_to_shadow", _NO_FILE, control=_BY_ROOT),
    _row(2, "absolute", _NO_FILE),
    _row(3, "symbolic_link", _NO_FILE),
    _row(4, "chain_of_links", _NO_FILE),
    _row(4, "loop_of_links", everywhere("stopped by kernel: ELOOP"), control=everywhere("probe that ends")),
    _row(5, "hard_link", everywhere("stopped by mount namespace: ENOENT EXDEV"), control=_BY_ROOT),
    _row(6, "own_root", _NO_FILE),
    _row(7, "root_of_the_launcher", everywhere("stopped by pid namespace: ENOENT")),
    _row(7, "root_of_process_1", _NO_FILE, control=everywhere("probe in a pid namespace")),
    _row(8, "magic_link", everywhere("stopped by closed descriptors: ENOENT")),
    _row(9, "leaked_folder", everywhere("stopped by closed descriptors: EBADF")),
    _row(10, "chroot", _NO_CALL, control=_IN_NAMESPACES),
    _row(11, "mount", _NO_CALL, control=everywhere("probe in namespaces")),
    _row(12, "nested_namespaces", _NO_CALL),
    _row(13, "unmount", _NO_CALL, control=root_or_user("probe in a mount namespace", "probe by root")),
    _row(14, "remount", _NO_CALL, control=root_or_user("probe in a mount namespace", "probe by root")),
    _row(15, "race", _NO_FILE),
    _row(17, "device_node", _NO_CALL, control=_BY_ROOT),
    _row(18, "devices", _NO_FILE, control=_BY_ROOT),
    _row(19, "setuid_program", _NO_CALL, module="programs"),
    _row(20, "file_capability", _NO_CALL, control=_BY_ROOT),
    _row(21, "change_what_is_read_only", everywhere("stopped by read-only mounts: EROFS EACCES"), control=_BY_ROOT),
    _row(21, "touch_a_device", everywhere("stopped by read-only mounts: EROFS"), control=_BY_ROOT),
    _row(21, "attributes_of_what_is_read_only", _NO_CALL, control=_BY_ROOT),
    _row(22, "kernel_settings", everywhere("stopped by proc subset: ENOENT"), control=_BY_ROOT),
    _row(22, "own_score", everywhere("stopped by hidden process: EACCES")),
    _row(22, "own_timer", everywhere("stopped by landlock: EACCES")),
    _row(23, "control_groups", _NO_FILE, control=_BY_ROOT),
    _row(24, "kernel_files", _NO_FILE, control=_BY_ROOT),
    _row(25, "file_handles", _NO_CALL, control=_BY_ROOT),
    _row(26, "special_files", _NO_CALL, module="leftovers"),
    _row(27, "a_mess", _FRESH, control=_TWICE, module="leftovers", times=2),
    _row(28, "planted_modules", _FRESH, control=_TWICE, module="leftovers", times=2),
    _row(29, "scratch_of_another_call", _FRESH, control=_TWICE, module="leftovers", times=2),
    _row(30, "io_uring", _NO_CALL),
)  # fmt: skip
