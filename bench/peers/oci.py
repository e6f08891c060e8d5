"""runc and gVisor: two runtimes that take the same bundle.

Takes: a call.  Gives: a bundle in the launcher's state folder, and the command line that runs it.
Never: a capability, a writable root, or a user of the container that is root where the launcher can choose.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from bench.peers.ground import Call, Ground
from bench.peers.peer import Peer, find

SCRATCH = "/tmp"  # noqa: S108  a fresh tmpfs inside
NOBODY = 65_534
_SCRATCH_OPTIONS = ["nosuid", "nodev", "mode=1777", "size=64m", "nr_inodes=4096"]
_LIMITS = {"RLIMIT_AS": 256 << 20, "RLIMIT_NOFILE": 128, "RLIMIT_NPROC": 64, "RLIMIT_FSIZE": 64 << 20}
_LINKS = {"lib": "usr/lib", "lib64": "usr/lib64", "bin": "usr/bin"}


def bundle(ground: Ground, call: Call, *, specified: tuple[str, ...] = ()) -> Path:
    """A root of links and mount points, and what `runc spec` writes with the call's command in it."""
    folder = Path(ground.state, f"bundle-{call.number}")
    root = folder / "rootfs"
    root.mkdir(parents=True)
    for name, target in _LINKS.items():
        (root / name).symlink_to(target)
    for path in ("/usr", "/proc", "/dev", "/sys", SCRATCH, *ground.shown):
        (root / path.lstrip("/")).mkdir(parents=True, exist_ok=True)
    (root / SCRATCH.lstrip("/")).chmod(0o1777)
    config = _specified(folder, specified)
    _adapt(config, ground, call)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def _specified(folder: Path, options: tuple[str, ...]) -> dict[str, Any]:
    program = find("runc") or "runc"
    subprocess.run([program, "spec", *options, "--bundle", str(folder)], check=True, capture_output=True)
    config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    return config


def _adapt(config: dict[str, Any], ground: Ground, call: Call) -> None:
    process = config["process"]
    process |= {
        "terminal": False,
        "args": list(call.words(ground, scratch=SCRATCH)),
        "cwd": SCRATCH,
        "capabilities": {},
        "env": ["PATH=/usr/bin"],
        "rlimits": [{"type": name, "hard": most, "soft": most} for name, most in _LIMITS.items()],
    }
    if os.geteuid() == 0:
        process["user"] = {"uid": NOBODY, "gid": NOBODY}
    # What is specified for an ordinary user leaves the host's network open.
    namespaces = config["linux"]["namespaces"]
    namespaces += [{"type": "network"}] if {"type": "network"} not in namespaces else []
    config["mounts"] += [
        {"destination": SCRATCH, "type": "tmpfs", "source": "tmpfs", "options": _SCRATCH_OPTIONS},
        *(
            {"destination": path, "type": "bind", "source": path, "options": ["rbind", "ro", "nosuid", "nodev"]}
            for path in ("/usr", *ground.shown)
        ),
    ]


def _name(call: Call) -> str:
    return f"probe-{os.getpid()}-{call.number}"


def _runc(ground: Ground, call: Call) -> tuple[str, ...]:
    made = bundle(ground, call, specified=("--rootless",) if os.geteuid() else ())
    return (find("runc") or "runc", "--root", f"{ground.state}/runc", "run", "--bundle", str(made), _name(call))


def _runsc_words(ground: Ground) -> tuple[str, ...]:
    rootless = ("--rootless",) if os.geteuid() else ()
    return ("runsc", "--root", f"{ground.state}/runsc", "--network=none", "--platform=ptrace", "--ignore-cgroups",
            *rootless)  # fmt: skip


def _runsc(ground: Ground, call: Call) -> tuple[str, ...]:
    return (*_runsc_words(ground), "run", "--bundle", str(bundle(ground, call)), _name(call))


def _delete_runc(ground: Ground, call: Call) -> None:
    _quietly([find("runc") or "runc", "--root", f"{ground.state}/runc", "delete", "--force", _name(call)])


def _delete_runsc(ground: Ground, call: Call) -> None:
    _quietly([*_runsc_words(ground), "delete", "--force", _name(call)])


def _quietly(words: list[str]) -> None:
    """A container that ended by itself is gone already, which is no error here."""
    subprocess.run(words, check=False, capture_output=True)


RUNC = Peer(
    name="runc",
    program="runc",
    version=("/usr/sbin/runc", "--version"),
    configuration="what `runc spec` writes (`--rootless` for an ordinary user), no capabilities, user 65534, "
    "limits by `rlimits`, a root of read-only mounts, `/tmp` a fresh tmpfs of 64 MiB",
    documented="its README; container engines add a system call filter and limits, runc by itself does not",
    not_meant={
        "share": "sets the limits that the bundle names; container engines add control groups, not set up here",
        "surface": "sets only the filter that the bundle names; the specified one names none, and programs run",
    },
    command=_runc,
    tidy=_delete_runc,
)

GVISOR = Peer(
    name="gVisor",
    program="runsc",
    version=("runsc", "--version"),
    configuration="the same bundle, `--network=none --platform=ptrace --ignore-cgroups`",
    documented="its guide; system calls are answered by gVisor's own kernel, so a call that works reaches that kernel "
    "and not the machine's",
    not_meant={
        "share": "leaves memory and processes to control groups, which container engines set up",
        "surface": "answers system calls itself: a door that is open here leads to gVisor and not to the machine",
    },
    command=_runsc,
    emulates=("line_018_devices",),
    needs=("runc",),
    tidy=_delete_runsc,
)
