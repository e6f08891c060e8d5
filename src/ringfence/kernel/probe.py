"""What this kernel offers a jail, found out by trying each thing in a child that is then gone.

Takes: nothing.  Gives: a finding for each mechanism, with what is missing and how to get it.  Never: concludes from a
version number or a file's presence, or changes the process that asks.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from ringfence.errors import RingfenceError
from ringfence.kernel import cgroups, landlock, limits, mounts, namespaces, seccomp
from ringfence.kernel.syscalls import NUMBERS, call

_USERNS_REMEDY = (
    "allow unprivileged user namespaces (sysctl `kernel.unprivileged_userns_clone=1`, "
    "`kernel.apparmor_restrict_unprivileged_userns=0`, `user.max_user_namespaces` above 0), or run outside a container"
)
_SECCOMP_REMEDY = "run a kernel built with CONFIG_SECCOMP_FILTER, and a container profile that admits `seccomp`"
_LANDLOCK_REMEDY = "run Linux 5.13 or newer with `landlock` in the boot parameter `lsm=`"
_OPENAT2_REMEDY = "run Linux 5.6 or newer, and a container profile that admits `openat2`"
_MOUNT_REMEDY = "run Linux 5.12 or newer, and a container profile that admits `mount_setattr`"
_RESOLVE_BENEATH = 0x08
_OPEN_HOW_BYTES = 24
_FAILED_WITHOUT_NUMBER = 255
_EXIT_CALLS = (NUMBERS["exit"], NUMBERS["exit_group"])


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One mechanism: `missing` is None where it works, else why it does not; `remedy` says how to get it."""

    name: str
    missing: str | None
    remedy: str

    @property
    def works(self) -> bool:
        return self.missing is None


@dataclass(frozen=True, kw_only=True)
class KernelOffer:
    """Everything a jail could be made of, on this machine, for this user."""

    landlock_version: int
    findings: tuple[Finding, ...]

    def missing(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if not finding.works)

    def works(self, name: str) -> bool:
        """Whether a mechanism works; one that was not probed does not."""
        return any(finding.name == name and finding.works for finding in self.findings)


_NAMESPACES = {
    "mount namespace": namespaces.NEW_MOUNTS,
    "pid namespace": namespaces.NEW_PIDS,
    "network namespace": namespaces.NEW_NETWORK,
    "ipc namespace": namespaces.NEW_IPC,
    "hostname namespace": namespaces.NEW_HOSTNAME,
}


def probe() -> KernelOffer:
    """Try everything once; takes some milliseconds."""
    user = namespaces.NEW_USER
    version = _landlock_version()
    findings = [
        _try("user namespace", _nothing, flags=user, remedy=_USERNS_REMEDY),
        *(_try(name, _nothing, flags=user | flag, remedy=_USERNS_REMEDY) for name, flag in _NAMESPACES.items()),
        _try("mount_setattr", mounts.make_private, flags=user | namespaces.NEW_MOUNTS, remedy=_MOUNT_REMEDY),
        _try("seccomp", _install_filter, flags=0, remedy=_SECCOMP_REMEDY),
        _try("landlock", lambda: _restrict(version), flags=0, remedy=_LANDLOCK_REMEDY),
        _try("openat2", _open_beneath, flags=0, remedy=_OPENAT2_REMEDY),
        *_control_groups(),
    ]
    return KernelOffer(landlock_version=version, findings=tuple(findings))


def _try(name: str, mechanism: Callable[[], object], *, flags: int, remedy: str) -> Finding:
    """Run a mechanism in a child of its own; the child's exit status is the errno it met."""
    try:
        pid = namespaces.clone(flags)
    except (OSError, RingfenceError) as failure:
        return Finding(name=name, missing=str(failure), remedy=remedy)
    if pid == 0:
        _exit_with(mechanism)
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    return Finding(name=name, missing=None if code == 0 else _why(code), remedy=remedy)


def _exit_with(mechanism: Callable[[], object]) -> None:
    code = _FAILED_WITHOUT_NUMBER
    try:
        mechanism()
        code = 0
    except OSError as failure:
        code = failure.errno or _FAILED_WITHOUT_NUMBER
    finally:
        os._exit(code)


def _why(code: int) -> str:
    if code < 0:
        return f"the kernel killed the trial with signal {-code}"
    return "the trial failed" if code == _FAILED_WITHOUT_NUMBER else os.strerror(code).lower()


def _nothing() -> None:
    return


def _install_filter() -> None:
    limits.set_no_new_privileges()
    refuse_all_but_exit = dict.fromkeys(_EXIT_CALLS, seccomp.ALLOW)
    seccomp.install(seccomp.encode(seccomp.compile_table(refuse_all_but_exit)))


def _restrict(version: int) -> None:
    limits.set_no_new_privileges()
    with landlock.Ruleset(version=version) as rules:
        rules.restrict_self()


def _landlock_version() -> int:
    try:
        return landlock.version()
    except (OSError, RingfenceError):
        return 0


def _open_beneath() -> None:
    how = (os.O_PATH | os.O_CLOEXEC).to_bytes(8, "little") + bytes(8) + _RESOLVE_BENEATH.to_bytes(8, "little")
    folder = os.open("/", os.O_PATH | os.O_CLOEXEC)
    call("openat2", folder, b".", how, _OPEN_HOW_BYTES)


def _control_groups() -> tuple[Finding, ...]:
    try:
        hierarchy = cgroups.find()
    except OSError as failure:
        return tuple(Finding(name=f"cgroup {c}", missing=str(failure), remedy="mount /proc") for c in cgroups.WANTED)
    return tuple(_control_group(hierarchy, controller=controller) for controller in cgroups.WANTED)


def _control_group(hierarchy: cgroups.Hierarchy, *, controller: str) -> Finding:
    absent = hierarchy.missing.get(controller)
    name = f"cgroup {controller}"
    if absent is None:
        return Finding(name=name, missing=None, remedy="")
    return Finding(name=name, missing=absent.reason, remedy=absent.remedy)
