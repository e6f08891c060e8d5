"""What keeps a tool from the launcher's secrets (lines 97 to 107); 104 and 105 are in `test_secrets.py`."""

from __future__ import annotations

from tests.attack.row import Row, everywhere, root_or_user

_PROBE = everywhere("probe")
_BY_ROOT = root_or_user("probe", "probe by root")

# `/proc/self/environ` and `mem` belong to root while a process is hidden: EACCES. Other processes are not there.
ROWS: tuple[Row, ...] = (
    Row(line=97, module="secrets", probe="line_097_environment",
        expected=everywhere("stopped by empty environment: ENODATA EACCES ENOENT"), control=_PROBE),
    Row(line=98, module="secrets", probe="line_098_descriptors",
        expected=everywhere("stopped by closed descriptors: EBADF"), control=_PROBE),
    Row(line=99, module="secrets", probe="line_099_memory",
        expected=everywhere("stopped by fresh process: ENODATA"), control=_PROBE),
    Row(line=100, module="secrets", probe="line_100_core_dump",
        expected=everywhere("stopped by seccomp: EPERM EACCES"), control=_PROBE),
    Row(line=101, module="secrets", probe="line_101_keyrings",
        expected=everywhere("stopped by seccomp: EPERM"), control=_PROBE),
    Row(line=102, module="secrets", probe="line_102_shared_memory",
        expected=everywhere("stopped by ipc namespace: EPERM ENOENT"), control=_PROBE),
    Row(line=103, module="secrets", probe="line_103_password_file",
        expected=everywhere("stopped by mount namespace: ENOENT"), control=_BY_ROOT),
    Row(line=103, module="secrets", probe="line_103_usual_places",
        expected=everywhere("stopped by mount namespace: ENOENT"), control=_PROBE),
    Row(line=106, module="secrets", probe="line_106_make_a_terminal",
        expected=everywhere("stopped by mount namespace: ENOENT"), control=_PROBE),
    Row(line=106, module="secrets", probe="line_106_type_into_a_terminal",
        expected=everywhere("stopped by seccomp: EPERM"), control=_BY_ROOT),
    Row(line=107, module="secrets", probe="line_107_about_the_host",
        expected=everywhere("stopped by proc subset: ENOENT ENODATA"), control=_PROBE),
)  # fmt: skip
