"""What the kernel offers is found by trying, and what a process is held by is read from outside."""

from __future__ import annotations

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from ringfence.kernel import limits, seccomp
from ringfence.kernel.attempts import begin
from ringfence.kernel.namespaces import NEW_PIDS, NEW_USER, clone
from ringfence.kernel.probe import probe
from ringfence.kernel.seccomp import ALLOW, Outcome, fail_with
from ringfence.kernel.status import read_namespaces, read_status
from ringfence.kernel.syscalls import NUMBERS, TABLE_END
from tests.integration.kernel.children import in_child

pytestmark = pytest.mark.req("SBX-6")

JAIL = (
    "user namespace",
    "mount namespace",
    "pid namespace",
    "network namespace",
    "ipc namespace",
    "hostname namespace",
    "mount_setattr",
    "seccomp",
    "landlock",
    "openat2",
)


def probe_without(*names: str) -> tuple[int, list[str]]:
    """The Landlock version and what has a remedy, as a child sees it where these calls are refused."""

    def play() -> tuple[int, list[str]]:
        refused: dict[int, Outcome] = {NUMBERS[name]: fail_with(errno.ENOSYS) for name in names}
        allowed: dict[int, Outcome] = dict.fromkeys(range(TABLE_END), ALLOW)
        limits.set_no_new_privileges()
        seccomp.install(seccomp.encode(seccomp.compile_table(allowed | refused)))
        offer = probe()
        return offer.landlock_version, [finding.name for finding in offer.missing() if finding.remedy]

    version, missing = in_child(play)
    return version, missing


def missing_without(*names: str) -> list[str]:
    return [name for name in probe_without(*names)[1] if name in JAIL]


def test_this_kernel_offers_everything_a_jail_is_made_of() -> None:
    offer = probe()
    assert [name for name in JAIL if not offer.works(name)] == []
    assert offer.landlock_version >= 6


def test_what_was_not_probed_does_not_work() -> None:
    assert not probe().works("telepathy")


def test_the_probe_leaves_the_process_as_it_was() -> None:
    before = (read_status(os.getpid()), dict(read_namespaces(os.getpid())))
    probe()
    assert (read_status(os.getpid()), dict(read_namespaces(os.getpid()))) == before


@pytest.mark.parametrize(
    ("refused", "missing"),
    [
        (("landlock_create_ruleset",), ["landlock"]),
        (("openat2",), ["openat2"]),
        (("mount_setattr",), ["mount_setattr"]),
        (("seccomp",), ["seccomp"]),
    ],
)
def test_a_missing_mechanism_is_found_and_has_a_remedy(refused: tuple[str, ...], missing: list[str]) -> None:
    assert missing_without(*refused) == missing


def test_a_missing_landlock_is_version_0() -> None:
    assert probe_without("landlock_create_ruleset")[0] == 0


@contextmanager
def waiting_child(flags: int) -> Generator[int]:
    gate, opened = os.pipe()
    ready, told = os.pipe()
    pid = clone(flags)
    if pid == 0:
        os.close(opened)
        limits.set_no_new_privileges()
        limits.drop_capabilities()
        table: dict[int, Outcome] = dict.fromkeys(range(TABLE_END), ALLOW)
        for _ in range(2):
            seccomp.install(seccomp.encode(seccomp.compile_table(table)))
        os.write(told, b"x")
        os.read(gate, 1)
        os._exit(0)
    os.read(ready, 1)
    yield pid
    for descriptor in (gate, opened, ready, told):
        os.close(descriptor)
    os.waitpid(pid, 0)


def test_confinement_is_read_from_outside() -> None:
    with waiting_child(NEW_USER | NEW_PIDS) as pid:
        status = read_status(pid)
        theirs, ours = read_namespaces(pid), read_namespaces(os.getpid())
    assert (status.seccomp_mode, status.seccomp_filters, status.no_new_privileges) == (2, 2, 1)
    assert (status.effective, status.permitted) == (0, 0)
    assert status.pids[-2:] == (pid, 1)
    assert status.parent == os.getpid()
    assert {kind for kind in ours if ours[kind] != theirs[kind]} == {"user", "pid"}


def test_an_unconfined_child_reads_as_unconfined() -> None:
    own = read_status(os.getpid())
    assert (own.seccomp_mode, own.seccomp_filters, own.no_new_privileges) == (0, 0, 0)


def test_a_process_that_is_gone_is_an_error() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    with pytest.raises(FileNotFoundError):
        read_status(pid)


@pytest.mark.parametrize(
    ("number", "passes"), [(errno.EPERM, False), (errno.ENOSPC, False), (errno.ENOMEM, True), (errno.EAGAIN, True)]
)
def test_what_has_only_run_out_says_nothing_about_the_machine(number: int, passes: bool) -> None:
    def fail() -> None:
        raise OSError(number, "no")

    obstacle = begin(fail, flags=0).end()
    assert obstacle is not None
    assert (obstacle.number, obstacle.passes) == (number, passes)


def test_what_works_has_no_obstacle() -> None:
    assert begin(lambda: None, flags=0).end() is None
