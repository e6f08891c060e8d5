"""How to get what a machine lacks, by mechanism and by kind of system.

Takes: a mechanism's name.  Gives: what to do, for any system and for some that need other words.  Never: does it, or
says whether it is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

System = Literal["any", "debian", "ubuntu", "fedora", "container"]
SYSTEMS: tuple[System, ...] = ("any", "debian", "ubuntu", "fedora", "container")


@dataclass(frozen=True)
class Remedy:
    """For these mechanisms on this system: what keeps them away there, and what to do."""

    mechanisms: tuple[str, ...]
    system: System
    because: str
    do: str


_NAMESPACES = ("user namespace", "mount namespace", "pid namespace", "network namespace", "ipc namespace",
               "hostname namespace", "nested namespaces")  # fmt: skip
_MOUNTS = ("mount_setattr", "moved mounts", "fresh scratch", "new root")
_GROUPS = ("cgroup memory", "cgroup pids", "cgroup cpuacct")
_OLD_CALLS = ("openat2", "close_range", "pidfd")

REMEDIES: tuple[Remedy, ...] = (
    Remedy(_NAMESPACES, "any", "the kernel gives ordinary users no namespaces",
           "set `user.max_user_namespaces` above 0 by sysctl, on a kernel with CONFIG_USER_NS, or run as root"),
    Remedy(_NAMESPACES, "debian", "Debian's own switch is off, as it was by default before Debian 11",
           "`sysctl -w kernel.unprivileged_userns_clone=1`, and a file in /etc/sysctl.d to keep it"),
    Remedy(_NAMESPACES, "ubuntu", "since 23.10 AppArmor takes every privilege from the user namespace of a program "
           "without a profile",
           "give the Python that runs Ringfence an AppArmor profile with `userns,` (see apparmor.d(5)), or "
           "`sysctl -w kernel.apparmor_restrict_unprivileged_userns=0` for the whole machine"),
    Remedy(_NAMESPACES, "fedora", "a hardened set-up has set the number of user namespaces to 0",
           "`sysctl -w user.max_user_namespaces=15000`, and a file in /etc/sysctl.d to keep it"),
    Remedy(_NAMESPACES, "container", "the default seccomp profile of Docker and Podman refuses `clone` with "
           "namespace flags",
           "`--security-opt seccomp=<profile that admits clone, unshare, mount, pivot_root, open_tree, move_mount and "
           "mount_setattr>`; without one the posture `confined` serves"),
    Remedy(_MOUNTS, "any", "the kernel or a filter refuses the mount calls of Linux 5.12",
           "run Linux 5.12 or newer, under no filter that refuses `mount`, `open_tree`, `move_mount`, `mount_setattr`"),
    Remedy(_MOUNTS, "ubuntu", "a user namespace can be made, and AppArmor then takes the right to mount in it",
           "give the Python that runs Ringfence an AppArmor profile with `userns,`, or "
           "`sysctl -w kernel.apparmor_restrict_unprivileged_userns=0` for the whole machine"),
    Remedy(_MOUNTS, "container", "the default profiles of Docker and Podman, seccomp and AppArmor, refuse mounts",
           "`--security-opt seccomp=<profile that admits the mount calls> --security-opt apparmor=unconfined`"),
    Remedy(("fresh proc",), "any", "parts of /proc are covered, and the kernel then lets nobody mount a whole one",
           "start Ringfence where nothing is mounted over parts of /proc"),
    Remedy(("fresh proc",), "container", "the container's runtime covers parts of /proc",
           "`--security-opt systempaths=unconfined` (Docker), `--security-opt unmask=/proc/*` (Podman), "
           "`procMount: Unmasked` (Kubernetes)"),
    Remedy(("landlock",), "any", "the kernel has no Landlock, or does not start it",
           "run Linux 5.13 or newer with `landlock` in the boot parameter `lsm=`"),
    Remedy(("landlock",), "debian", "before Debian 12 the kernel has Landlock and does not start it",
           "add `lsm=landlock,lockdown,yama,integrity,apparmor,bpf` to GRUB_CMDLINE_LINUX, `update-grub`, and reboot"),
    Remedy(("landlock",), "fedora", "a changed boot line leaves it out",
           "`grubby --update-kernel=ALL --args=lsm=lockdown,yama,integrity,selinux,bpf,landlock`, and reboot"),
    Remedy(("landlock",), "container", "the host's kernel decides, and old profiles refuse the calls",
           "run a newer host kernel, and a current Docker or Podman, whose profile admits the three Landlock calls"),
    Remedy(("seccomp",), "any", "the kernel was built without filters, or a filter refuses another one",
           "run a kernel built with CONFIG_SECCOMP_FILTER, and a container profile that admits `seccomp`"),
    Remedy(_OLD_CALLS, "any", "the kernel is older than the call, or a filter does not know it",
           "run Linux 5.9 or newer, under no filter that refuses `openat2`, `close_range` and `pidfd_open`"),
    Remedy(_OLD_CALLS, "container", "a runtime older than the kernel refuses calls that it does not know",
           "update Docker, Podman or containerd with its libseccomp"),
    Remedy(("stamped messages", "subreaper"), "any", "a filter refuses what every Linux since 3.4 has",
           "run under no filter that refuses `prctl`, `setsockopt` and `recvmsg`"),
    Remedy(("asked connections",), "any", "the kernel does not let Ringfence look into the processes that it started",
           "run Linux 5.6 or newer with `kernel.yama.ptrace_scope` at 1 or 0; as root with the capability "
           "CAP_SYS_PTRACE"),
    Remedy(("asked connections",), "container", "the default profiles of Docker and Podman have no CAP_SYS_PTRACE, and "
           "without it their filters refuse `pidfd_getfd`", "`--cap-add=SYS_PTRACE`"),
    Remedy(("idmapped mounts",), "any", "only root may show a file system with other owners, from Linux 5.12 on",
           "run Ringfence as root, or grant folders that its own user can read and write"),
    Remedy(_GROUPS, "any", "no control group below which this process may make its own",
           "start Ringfence as a systemd service with `Delegate=yes`"),
    Remedy(_GROUPS, "container", "the container sees its control groups read-only",
           "`--cgroupns=private` with a writable /sys/fs/cgroup, or bounds on the container itself"),
)  # fmt: skip


def remedies_for(mechanism: str) -> Mapping[System, str]:
    """What to do, by system; every mechanism has a remedy for any."""
    return {row.system: row.do for row in REMEDIES if mechanism in row.mechanisms}


def causes_of(mechanism: str) -> Mapping[System, str]:
    """What usually keeps it away, by system."""
    return {row.system: row.because for row in REMEDIES if mechanism in row.mechanisms}
