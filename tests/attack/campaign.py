"""Runs every hostile tool once, in the jail that ships, and prints what became of it.

Takes: an order as JSON on standard input.  Gives: {probe: {status, code, outcome, detail, evidence}} as JSON.
Never: imports a probe; the jail does.

It is a script of its own, because it is started as root and as an ordinary user, with the canaries that a careless
launcher would leak: a variable, inheritable descriptors.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import sys
from pathlib import Path
from typing import Any

SECRET, FOLDER, RING = 9, 10, 11
_IO_URING_SETUP = 425
AGENT = "mallory"


def config(order: dict[str, Any]) -> dict[str, Any]:
    """The shipped defaults, and nothing but them, round the probes."""
    state = Path(order["state"])
    return {
        "version": 1,
        "tools": {"modules": order["modules"], "path": [order["tools"]]},
        "people": {"olga": {"roles": ["operator"]}},
        "agents": {
            AGENT: {
                "allowed_tools": ["*"],
                "files": {"read": ["knowledge"], "write": ["outbox"]},
                "processes": {"allow": ["wc", "sh", "tar", "find", "cat"]},
                **({"workspace": order["workspace"]} if "workspace" in order else {}),
            }
        },
        "sandbox": {"kind": "local"},
        "store": {"url": f"sqlite:///{state}/ringfence.db"},
        "audit": {"anchor": str(state / "anchor.log"), "signing_key": str(state / "audit.key")},
    }


def furnish(workspace: Path, *, secret: str) -> None:
    """The agent's files: a folder to read, with links that somebody left there, and one that is not granted."""
    for name in ("knowledge", "private", "outbox"):
        (workspace / name).mkdir(parents=True)
        (workspace / name / "note").write_text("a note", encoding="utf-8")
    (workspace / "outbox" / "note").unlink()
    (workspace / "knowledge" / "to_the_secret").symlink_to(secret)
    (workspace / "knowledge" / "sideways").symlink_to("../private/note")


def give(workspace: Path, *, owner: int) -> None:
    for place in (workspace, *workspace.rglob("*")):
        os.chown(place, owner, owner, follow_symlinks=False)


async def run(order: dict[str, Any]) -> dict[str, Any]:
    from ringfence.assembly import open_runtime

    workspace = Path(order["workspace"]) if "workspace" in order else Path(order["state"], "work", AGENT)
    furnish(workspace, secret=order["canaries"]["secret_file"])
    if "owner" in order:
        give(workspace, owner=order["owner"])
    before = host()
    async with open_runtime(config(order), accept_as="olga") as runtime:
        session = runtime.session(agent=AGENT, user="tester")

        async def call(probe: str) -> tuple[str, dict[str, Any]]:
            return probe, (await session.call(probe, order["canaries"])).as_dict()

        waiting = [asyncio.create_task(call(probe)) for probe in order["long"]]
        told = dict([await call(probe) for probe in order["quick"]])
        told |= dict([await task for task in waiting])
        evidence = {
            event["invocation_id"]: event["body"]["evidence"]
            async for event in runtime.audit.export()
            if event["kind"] in ("tool_completed", "tool_failed")
        }
    rows = {probe: _row(outcome, evidence.get(outcome["invocation_id"])) for probe, outcome in told.items()}
    return {"rows": rows, "before": before, "afterwards": host()}


def _row(outcome: dict[str, Any], evidence: Any) -> dict[str, Any]:
    output: dict[str, Any] = outcome.get("output") or {}
    return {
        "status": outcome["status"],
        "code": outcome.get("code"),
        "outcome": output.get("outcome"),
        "detail": output.get("detail", outcome.get("message")),
        "effects": outcome.get("effects"),
        "evidence": evidence,
    }


def host() -> dict[str, Any]:
    """What this process holds of the machine: children, descriptors, mounts, control groups."""
    groups = [line.split(":", 2)[1:] for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()]
    folders = [Path("/sys/fs/cgroup", names or "unified", path.lstrip("/")) for names, path in groups]
    return {
        "children": Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split(),
        "descriptors": sorted(_kind(os.readlink(f"/proc/self/fd/{name}")) for name in _open_descriptors()),
        "mounts": sum(not place.startswith("/run/") for place in _mounts()),  # there, others of the machine mount
        "groups": sorted(str(made) for folder in folders for made in folder.glob(f"ringfence-{os.getpid()}-*")),
    }


def _mounts() -> list[str]:
    return [line.split()[1] for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()]


def _kind(target: str) -> str:
    """What a descriptor is, without the number that tells two of a kind apart."""
    return target if target.startswith("anon_inode") else target.split(":", maxsplit=1)[0]


def _open_descriptors() -> list[str]:
    return [name for name in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{name}")]


def leak(secret: str) -> None:
    """Leave open what a careless launcher would: the secret, the machine's root, a ring."""
    ring = ctypes.CDLL(None).syscall(_IO_URING_SETUP, 1, ctypes.create_string_buffer(120))
    for descriptor, number in (
        (os.open(secret, os.O_RDONLY), SECRET),
        (os.open("/", os.O_PATH), FOLDER),
        (ring, RING),
    ):
        os.dup2(descriptor, number, inheritable=True)


def given() -> dict[str, Any]:
    """The order on standard input, once all that is open, with the launcher's own pid among the canaries."""
    order: dict[str, Any] = json.load(sys.stdin)
    leak(order["canaries"]["secret_file"])
    order["canaries"]["launcher_pid"] = os.getpid()
    return order


def main() -> None:
    json.dump(asyncio.run(run(given())), sys.stdout)


if __name__ == "__main__":
    main()
