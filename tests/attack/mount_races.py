"""Mounts come and go in a granted folder while a jailed tool reads it; prints what the tool and the host saw there.

A script of its own: it makes mounts, in a mount namespace that ends with it.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from ringfence.agents.profile import Permits
from ringfence.contract.capabilities import Files
from ringfence.sandbox.floor import Floor
from tests.integration.sandbox.driver import Yard

_NEWNS, _SHARED, _BIND, _DETACH = 0x0002_0000, 0x10_4000, 0x1000, 2
_libc = ctypes.CDLL(None, use_errno=True)


def mount(source: bytes, target: bytes, flags: int) -> None:
    if _libc.mount(source, target, None, flags, None) != 0:
        raise OSError(ctypes.get_errno(), "mount")


async def main(folder: Path, rounds: int) -> None:
    # All mounts are shared, as on most machines: what is mounted appears wherever it can.
    if _libc.unshare(_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    mount(b"none", b"/", _SHARED)
    for name in ("ana/knowledge/sub", "ana/outbox", "outside"):
        (folder / name).mkdir(parents=True)
    (folder / "outside" / "note").write_text("secret", encoding="utf-8")
    target, over = folder / "ana" / "knowledge" / "sub", threading.Event()
    seen_outside: set[str] = set()

    def come_and_go() -> None:
        while not over.is_set():
            mount(os.fsencode(folder / "outside"), os.fsencode(target), _BIND)
            seen_outside.add((target / "note").read_text(encoding="utf-8"))
            _libc.umount2(os.fsencode(target), _DETACH)

    permits = Permits(files=Files(read=["knowledge"], write=["outbox"]))
    yard = Yard(state=folder / "state", workspaces={"ana": str(folder / "ana")}, permits=permits, floor=Floor(homes={}))
    await yard.load("filing")
    # The jail is made while nothing is mounted; what is mounted later must stay outside.
    await yard.run("read_note", {"path": "knowledge/sub/note"})
    acting = threading.Thread(target=come_and_go)
    acting.start()
    seen: set[str] = set()
    for _ in range(rounds):
        raw = await yard.run("read_note", {"path": "knowledge/sub/note"})
        seen.add("absent" if raw.fault and "No such file" in raw.fault.message else str(raw.reply or raw.fault))
    over.set()
    acting.join()
    await yard.close()
    print("jail:", *seen, "host:", *seen_outside)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
