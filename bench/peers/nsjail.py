"""nsjail: namespaces, limits and a filter language from a command line.

Takes: a call.  Gives: its command line.  Never: shows more of the machine than Python needs.
"""

from __future__ import annotations

from bench.peers.ground import Call, Ground
from bench.peers.peer import Peer

SCRATCH = "/tmp"  # noqa: S108  a fresh tmpfs inside
_LIMITS = ("--rlimit_as", "256", "--rlimit_nofile", "128", "--rlimit_nproc", "64", "--rlimit_fsize", "64")


def _command(ground: Ground, call: Call) -> tuple[str, ...]:
    system = ("/usr", "/lib", "/lib64", "/bin")
    shown = [word for path in (*system, *ground.shown) for word in ("--bindmount_ro", path)]
    return (
        "nsjail", "--mode", "o", "--really_quiet", "--user", "65534", "--group", "65534", *_LIMITS, *shown,
        "--mount", "none:/dev:tmpfs:rw", "--bindmount", "/dev/null", "--bindmount_ro", "/dev/urandom",
        "--mount", f"none:{SCRATCH}:tmpfs:size=67108864,nr_inodes=4096", "--cwd", SCRATCH,
        "--", *call.words(ground, scratch=SCRATCH),
    )  # fmt: skip


NSJAIL = Peer(
    name="nsjail",
    program="nsjail",
    version=(),
    configuration="`--mode o --user 65534 --group 65534`, limits by `--rlimit_*`, `/usr` and the packages read-only, "
    "`/tmp` a fresh tmpfs of 64 MiB; every namespace is on by default",
    documented="the examples of its README",
    not_meant={
        "share": "has control groups for what limits of a process miss; they were not set up here",
        "surface": "has no filter unless the caller writes one, and programs run",
    },
    command=_command,
)
