"""One sandbox beside ours: how it is found, how it is told to run a command, what it is not meant to stop.

Takes: the path, and the folder that `scripts/bench_peers` fills.  Gives: `Peer`, `Found`, `Absent`.
Never: a peer that is left out in silence.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.peers.chosen import Kind
from bench.peers.ground import PEERS, Call, Ground

REFUSED = PEERS / "refused"
SECONDS = 10


@dataclass(frozen=True, kw_only=True)
class Peer:
    """`configuration` is what a reader needs to repeat it; `not_meant` says by kind what it leaves to others.

    `emulates` lists probes that reach what the peer itself puts in the machine's place.
    `version` is the command that tells it; none where the program has no such command.
    """

    name: str
    program: str
    version: tuple[str, ...]
    configuration: str
    documented: str
    not_meant: Mapping[Kind, str]
    command: Callable[[Ground, Call], Sequence[str]]
    places: Sequence[Path] = ()
    emulates: Collection[str] = ()
    needs: Sequence[str] = ()
    tidy: Callable[[Ground, Call], None] = field(default=lambda _ground, _call: None)


@dataclass(frozen=True, kw_only=True)
class Found:
    """A peer that is installed here."""

    peer: Peer
    version: str


@dataclass(frozen=True, kw_only=True)
class Absent:
    """A peer that is not, and why."""

    name: str
    reason: str


def look_for(peer: Peer) -> Found | Absent:
    """Whether a peer runs here; what the installing script was told counts as the reason if it does not."""
    missing = [program for program in (peer.program, *peer.needs) if find(program, places=peer.places) is None]
    if missing:
        return Absent(name=peer.name, reason=reason_for(peer.name, missing=missing[0]))
    if not peer.version:
        return Found(peer=peer, version=f"not told; {find(peer.program, places=peer.places)}")
    asked = subprocess.run(peer.version, capture_output=True, text=True, timeout=SECONDS, check=False)
    said = (asked.stdout or asked.stderr).strip().splitlines()
    if asked.returncode != 0 or not said:
        return Absent(name=peer.name, reason=f"`{peer.program}` does not tell its version: {' '.join(said)}")
    return Found(peer=peer, version=said[0].split()[-1])


def find(program: str, *, places: Sequence[Path] = ()) -> str | None:
    """Where a program is; system folders are looked in too, which an ordinary user's path leaves out."""
    for place in places:
        if (place / program).exists():
            return str(place / program)
    return shutil.which(program, path=os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin")))


def reason_for(name: str, *, missing: str) -> str:
    """Why a peer is not here, in the words of whoever tried to install it."""
    told = REFUSED / name
    if told.is_file():
        return told.read_text(encoding="utf-8").strip()
    return f"`{missing}` is not installed; `scripts/bench_peers` installs what it can"
