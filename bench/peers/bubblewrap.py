"""bubblewrap: namespaces and mounts from a command line.

Takes: a call.  Gives: its command line.  Never: shows more of the machine than Python needs.
"""

from __future__ import annotations

from bench.peers.ground import Call, Ground
from bench.peers.peer import Peer

SCRATCH = "/tmp"  # noqa: S108  a fresh tmpfs inside
_SYSTEM = ("--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64",
           "--symlink", "usr/bin", "/bin", "--proc", "/proc", "--dev", "/dev",
           "--size", "67108864", "--tmpfs", SCRATCH)  # fmt: skip


def _command(ground: Ground, call: Call) -> tuple[str, ...]:
    shown = [word for path in ground.shown for word in ("--ro-bind", path, path)]
    return (
        "bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv", *_SYSTEM, *shown,
        "--chdir", SCRATCH, "--", *call.words(ground, scratch=SCRATCH),
    )  # fmt: skip


BUBBLEWRAP = Peer(
    name="bubblewrap",
    program="bwrap",
    version=("bwrap", "--version"),
    configuration="`--unshare-all --die-with-parent --new-session --clearenv`, `/usr` and the packages read-only, "
    "fresh `/proc` and `/dev`, `/tmp` a fresh tmpfs of 64 MiB",
    documented="the example of its README, and `--new-session` as it advises",
    not_meant={
        "reach": "hands open descriptors on, and its first process inside keeps the caller's variables; callers close "
        "and clear them",
        "share": "sets no limits but the size of a tmpfs; its README leaves them to the caller",
        "surface": "has no system call filter of its own; the caller may hand one in by `--seccomp`, and programs run",
    },
    command=_command,
)
