"""firejail: a setuid sandbox with profiles.

Takes: a call.  Gives: its command line.  Never: a home folder other than the call's scratch.
"""

from __future__ import annotations

from bench.peers.ground import Call, Ground
from bench.peers.peer import Peer

_OPTIONS = (
    "--quiet", "--profile=/etc/firejail/default.profile", "--net=none", "--private-dev", "--private-tmp",
    "--keep-var-tmp", "--ipc-namespace", "--rlimit-as=256m", "--rlimit-nofile=128", "--rlimit-nproc=64",
    "--rlimit-fsize=64m",
)  # fmt: skip


def _command(ground: Ground, call: Call) -> tuple[str, ...]:
    shown = [f"--whitelist={path}" for path in (*ground.shown, call.scratch) if not path.startswith("/usr")]
    return (
        "firejail",
        *_OPTIONS,
        *shown,
        f"--read-write={call.scratch}",
        "--",
        *call.words(ground, scratch=call.scratch),
    )


FIREJAIL = Peer(
    name="firejail",
    program="firejail",
    version=("firejail", "--version"),
    configuration="its default profile, `--net=none --private-dev --private-tmp --ipc-namespace`, limits by "
    "`--rlimit-*`, `--whitelist` for the packages and the scratch folder",
    documented="its manual page; the default profile drops capabilities, sets a system call filter and `noroot`",
    not_meant={
        "reach": "hands the caller's variables on, except those that `--rmenv` names",
        "surface": "a desktop sandbox: it runs programs, and its filter is a list of what is refused",
    },
    command=_command,
)
