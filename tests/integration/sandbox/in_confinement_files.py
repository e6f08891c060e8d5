"""What tools do with granted files on a host without namespaces, as one program: it prints what happened, as JSON."""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

from driver import Yard  # type: ignore[import-not-found]  # pyright: ignore[reportMissingImports]

from ringfence.agents.profile import Permits
from ringfence.contract.capabilities import Files
from ringfence.contract.limits import Limits
from ringfence.sandbox.floor import Floor

OWNER = 1234
MOST_AT_ONCE = 200
RENAMEAT2, AT_FDCWD, EXCHANGE = 316, -100, 2
PERMITS = Permits(files=Files(read=["knowledge", "shared"], write=["outbox"]))
UNREACHABLE = (
    "/etc/passwd", "../../etc/passwd", "knowledge/sideways", "knowledge/out", "private/a", "knowledge/../../ben/a",
    "/proc/self/root/etc/hosts", "knowledge/round",
)  # fmt: skip
ATTEMPTS = (
    "write what is read", "add to what is read", "write the workspace", "permit", "link", "hard link", "pipe", "device",
    "cut what is read", "cut by name", "cut while opening", "move out", "move between", "rename what is read",
    "re-date", "copy", "copy with times", "climb", "list the workspace", "another agent's", "move in",
)  # fmt: skip


def furnish(folder: Path) -> Path:
    """A workspace that its owner alone may open; as root, of a user who is not root."""
    for name in ("knowledge", "private", "outbox/inner"):
        (folder / name).mkdir(parents=True, mode=0o700)
        (folder / name / "a").write_text(f"{folder.name} {name}")
    for link, target in (("sideways", "../private/a"), ("out", "/etc/passwd"), ("round", "round"), ("near", "./a")):
        (folder / "knowledge" / link).symlink_to(target)
    if os.geteuid() == 0:
        for place in (folder, *folder.rglob("*")):
            os.chown(place, OWNER, OWNER, follow_symlinks=False)
    return folder


def yard_in(folder: Path, workspaces: dict[str, str]) -> Any:
    return Yard(state=folder / "state", workspaces=workspaces, permits=PERMITS, floor=Floor(homes={}))


async def calls(folder: Path) -> dict[str, Any]:
    workspaces = {name: str(furnish(folder / name)) for name in ("ana", "ben")}
    yard = yard_in(folder, workspaces)
    await yard.load("filing")
    ana = folder / "ana"
    read = await yard.run("read_note", {"path": "knowledge/a"})
    assert read.fault is None, read
    wrote = await yard.run("write_note", {"path": "outbox/one", "text": "1"})
    told: dict[str, Any] = {
        "posture": read.evidence["posture"],
        "uid": read.evidence["process"]["uid"],
        "read": [json.loads(read.reply), *[
            await yard.output("read_note", {"path": path})
            for path in ("knowledge/../knowledge/a", "knowledge/near", "./knowledge//a")
        ]],
        "unreachable": sorted({(await yard.fault("read_note", {"path": path}))[0] for path in UNREACHABLE}),
        "wrote": [json.loads(wrote.reply), wrote.effects.files],
        "owner": (ana / "outbox" / "one").stat().st_uid == ana.stat().st_uid,
        "awaited": await yard.output("write_awaited", {"path": "outbox/two", "text": "2"}),
        "start": (await yard.output("plain_write", {"path": "outbox/one", "text": "3"})).split()[0] == str(ana),
        "removed": (await yard.run("remove", {"path": "outbox/one"})).effects.files,
        "single": await yard.output("single_files"),
        "attempts": {what: await yard.output("attempt", {"what": what}) for what in ATTEMPTS},
        "listed": await yard.output("list_granted"),
        "ben": await yard.output("read_note", {"path": "knowledge/a"}, agent="ben"),
        "too_large": json.loads((await yard.run("fill", {"path": "outbox/two"}, limits=Limits(disk_mb=1))).reply),
        "during import": await yard.output("largest_during_import"),
        "replaced": await replaced(yard, ana),
        "untouched": (ana / "knowledge" / "a").read_text(),
    }  # fmt: skip
    await yard.close()
    told["left"] = sorted(path.name for path in (ana / "outbox").iterdir())
    return told


async def replaced(yard: Any, ana: Path) -> list[str]:
    """A granted folder that another one took the place of is found anew."""
    (ana / "knowledge").rename(ana / "before")
    (ana / "knowledge").mkdir()
    (ana / "knowledge" / "a").write_text("another")
    if os.geteuid() == 0:
        os.chown(ana / "knowledge", OWNER, OWNER)
    found = [await yard.output("read_note", {"path": "knowledge/a"})]
    (ana / "knowledge" / "a").unlink()
    (ana / "knowledge").rmdir()
    (ana / "before").rename(ana / "knowledge")
    return [*found, await yard.output("read_note", {"path": "knowledge/a"})]


async def refusals(folder: Path) -> dict[str, Any]:
    """What a host of root refuses: files of two owners, of root, and those that their owner has no way to."""
    ana = furnish(folder / "ana")
    yard = yard_in(folder, {"ana": str(ana)})
    await yard.load("filing")
    told: dict[str, Any] = {"before": await yard.output("read_note", {"path": "knowledge/a"})}
    for name, owners in (("two owners", (OWNER, OWNER + 1)), ("root", (0, 0))):
        for place, owner in zip(("knowledge", "outbox"), owners, strict=True):
            os.chown(ana / place, owner, owner)
        refused = yard.sandbox.refusal(yard.job("read_note", {"path": "x"}))
        told[name] = [refused.code, refused.message, bool(refused.remedy)]
    for place in ("knowledge", "outbox"):
        os.chown(ana / place, OWNER + 1, OWNER + 1)
    ana.chmod(0o700)
    told["another owner's way"] = await yard.fault("read_note", {"path": "knowledge/a"})
    await yard.close()
    return told


async def corpora(folder: Path) -> dict[str, Any]:
    """Hostile paths are read and harmless ones are written and read, a few hundred in each call."""
    given = json.load(sys.stdin)
    yard = yard_in(folder, {"ana": str(furnish(folder / "ana"))})
    await yard.load("reaching")
    reached: dict[str, set[str]] = {"plain": set(), "asked": set()}
    for paths in batches(given["traversal"]):
        for way, outcomes in (await yard.output("reach", {"paths": paths})).items():
            reached[way] |= set(outcomes)
    lost = [path for paths in batches(given["benign"]) for path in await yard.output("keep", {"paths": paths})]
    await yard.close()
    return {"reached": {way: sorted(outcomes) for way, outcomes in reached.items()}, "lost": lost[:20]}


def batches(paths: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(paths), MOST_AT_ONCE):
        yield paths[start : start + MOST_AT_ONCE]


async def races(folder: Path) -> dict[str, Any]:
    """Outside, a granted folder and a link that leads to a secret change places without end."""
    ana = furnish(folder / "ana")
    for place, text in ((ana / "knowledge" / "swapped", "inside"), (folder / "secret", "secret")):
        place.mkdir()
        (place / "note").write_text(text)
        place.chmod(0o755)
        (place / "note").chmod(0o644)
    (ana / "knowledge" / "link").symlink_to(folder / "secret")
    yard = yard_in(folder, {"ana": str(ana)})
    await yard.load("reaching")
    over = threading.Event()
    swapping = threading.Thread(target=swap, args=(ana / "knowledge", over))
    swapping.start()
    try:
        seen = await yard.output("race", {"rounds": int(sys.argv[2])})
        control = await asyncio.to_thread(unjailed, ana / "knowledge" / "swapped" / "note")
    finally:
        over.set()
        swapping.join()
        await yard.close()
    return {"seen": seen, "control": control}


def swap(folder: Path, over: threading.Event) -> None:
    one, other = (os.fsencode(folder / name) for name in ("swapped", "link"))
    libc = ctypes.CDLL(None, use_errno=True)
    while not over.is_set():
        assert libc.syscall(RENAMEAT2, AT_FDCWD, one, AT_FDCWD, other, EXCHANGE) == 0


def unjailed(path: Path) -> bool:
    """Whether the same path leads to the secret for whoever is not jailed."""
    return any(path.read_text() == "secret" for _ in range(10_000))


MODES: dict[str, Callable[[Path], Coroutine[Any, Any, dict[str, Any]]]] = {
    "calls": calls, "refusals": refusals, "corpora": corpora, "races": races,
}  # fmt: skip

if __name__ == "__main__":
    os.umask(0o022)
    with tempfile.TemporaryDirectory() as made:
        os.chmod(made, 0o755)
        print(json.dumps(asyncio.run(MODES[sys.argv[1]](Path(made).resolve()))))
