"""Without namespaces the table only narrows, and each older Landlock takes away what it cannot refuse itself."""

from __future__ import annotations

import errno
import os
import signal

import pytest

from ringfence.kernel import allowlist, allowlist_confined
from ringfence.kernel.allowlist_confined import SPARE_FLAGS, narrowed
from ringfence.kernel.closures import CLOSURES
from ringfence.kernel.namespaces import NEW_USER, flags_register
from ringfence.kernel.seccomp import ALLOW, REFUSE, UNKNOWN, Action, compile_table, fail_with
from ringfence.kernel.syscalls import NUMBERS
from tests.unit.kernel.filter_machine import run

pytestmark = pytest.mark.req("SBX-3", "SBX-6")

VERSIONS = range(1, 8)
FULL_B = compile_table(allowlist.stage_b())
STAGES = {
    version: (
        compile_table(allowlist_confined.stage_a(version)),
        compile_table(allowlist_confined.stage_b(version)),
    )
    for version in VERSIONS
}
NEVER = ("chmod", "fchmod", "fchmodat", "fchmodat2", "utime", "utimes", "futimesat", "utimensat", "kill", "tkill",
         "mount", "socket", "ptrace", "execve", "chown", "setxattr", "unshare", "setns")  # fmt: skip
OPENS = {"open": 1, "openat": 2}


def told(version: int, stage: int, name: str, *arguments: int) -> Action:
    return run(STAGES[version][stage], NUMBERS[name], *arguments)


def test_every_row_gives_its_reason_once() -> None:
    for version in VERSIONS:
        names = [row.name for row in narrowed(version)]
        assert sorted(set(names)) == sorted(names)
        assert all(row.reason.strip() for row in narrowed(version))


@pytest.mark.parametrize("version", VERSIONS)
def test_nothing_is_allowed_that_the_full_posture_refuses(version: int) -> None:
    for number in NUMBERS.values():
        if run(STAGES[version][1], number) == ALLOW:
            assert run(FULL_B, number) == ALLOW


@pytest.mark.parametrize("stage", [0, 1])
@pytest.mark.parametrize("version", VERSIONS)
def test_what_only_a_mount_or_a_namespace_made_harmless_is_refused(version: int, stage: int) -> None:
    assert {told(version, stage, name) for name in NEVER} == {REFUSE}
    assert told(version, stage, "listxattr") == told(version, stage, "getxattr") == fail_with(errno.ENOTSUP)


@pytest.mark.parametrize("stage", [0, 1])
@pytest.mark.parametrize("version", VERSIONS)
def test_nothing_is_emptied_where_landlock_cannot_refuse_that(version: int, stage: int) -> None:
    able = version >= 3
    assert told(version, stage, "truncate") == (ALLOW if able else REFUSE)
    assert told(version, stage, "openat2") == (ALLOW if able else UNKNOWN)
    for name, at in OPENS.items():
        flags = [0] * at
        assert told(version, stage, name, *flags, os.O_RDONLY | os.O_CLOEXEC) == ALLOW
        assert told(version, stage, name, *flags, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) == ALLOW
        assert told(version, stage, name, *flags, os.O_RDWR | os.O_TRUNC) == ALLOW
        assert told(version, stage, name, *flags, os.O_RDONLY | os.O_TRUNC) == (ALLOW if able else REFUSE)
        assert told(version, stage, name, *flags, os.O_ACCMODE | os.O_TRUNC) == (ALLOW if able else REFUSE)


@pytest.mark.parametrize("stage", [0, 1])
@pytest.mark.parametrize("version", VERSIONS)
def test_nobody_is_signalled_where_landlock_cannot_keep_signals_in(version: int, stage: int) -> None:
    assert told(version, stage, "tgkill") == (ALLOW if version >= 6 else REFUSE)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_zygote_makes_spares_that_die_with_the_warden_and_nothing_else(version: int) -> None:
    assert told(version, 0, "clone", flags_register(SPARE_FLAGS)) == ALLOW
    assert told(version, 0, "clone", flags_register(SPARE_FLAGS | NEW_USER)) == REFUSE
    assert told(version, 0, "clone", flags_register(0)) == REFUSE
    assert told(version, 0, "prctl", 1, signal.SIGKILL) == ALLOW
    assert told(version, 0, "prctl", 1, 0) == REFUSE
    assert told(version, 1, "prctl", 1, signal.SIGKILL) == REFUSE
    assert told(version, 1, "clone", flags_register(SPARE_FLAGS)) == REFUSE


def test_every_closure_that_is_the_filters_can_be_seen_in_the_filter() -> None:
    seen = {"truncate": "truncate", "signal": "tgkill"}
    for row in CLOSURES:
        if row.right in seen:
            call = seen[row.right]
            assert told(row.since - 1, 1, call) == REFUSE
            assert told(row.since, 1, call) == ALLOW
