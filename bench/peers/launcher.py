"""Tries every probe in every peer, as a careless program would start it: a secret variable, inheritable descriptors.

Takes: an order as JSON on standard input.  Gives: {peer: {probe: {verdict, detail}}} as JSON.
Never: lets one sandbox's mess into another's try; each has a scratch folder and a session of its own.

It is a process of its own, because it is started as root and as an ordinary user.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from bench.peers.chosen import OWN_MAKING
from bench.peers.ground import Call, Ground
from bench.peers.peer import Peer
from bench.peers.peers import PEERS
from bench.peers.verdict import Said, judge, judge_fairly
from tests.attack.campaign import leak

SECONDS = 60
NOTHING: tuple[frozenset[str], str] = (frozenset(), "")


def run(order: Mapping[str, Any], ground: Ground) -> dict[str, dict[str, dict[str, str]]]:
    told: dict[str, dict[str, dict[str, str]]] = {}
    number = 0
    for peer in (peer for peer in PEERS if peer.name in order["peers"]):
        told[peer.name] = {}
        for module, probe in order["probes"]:
            number += 1
            with tempfile.TemporaryDirectory(dir=order["state"], ignore_cleanup_errors=True) as scratch:
                call = Call(number=number, module=module, probe=probe, canaries=order["canaries"], scratch=scratch)
                told[peer.name][probe] = _tried(peer, ground, call)
        sys.stderr.write(f"{peer.name}: {len(told[peer.name])} probes\n")
    return told


def _tried(peer: Peer, ground: Ground, call: Call) -> dict[str, str]:
    try:
        judged = judge(_said(peer.command(ground, call), cwd=call.scratch))
        judged = judge_fairly(judged, own_making=OWN_MAKING.get(call.probe, NOTHING)[0])
    finally:
        peer.tidy(ground, call)
    verdict = "stopped" if judged.verdict == "works" and call.probe in peer.emulates else judged.verdict
    return {"verdict": verdict, "detail": judged.detail}


def _said(words: Sequence[str], *, cwd: str) -> Said:
    """What a command printed; it and whatever it started are gone afterwards, as far as a session reaches."""
    with subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
        close_fds=False,
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            _end(process)
            out, err = process.communicate()
            return Said(status=None, out=_text(out), err=_text(err))
        _end(process)
    return Said(status=process.returncode, out=_text(out), err=_text(err))


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _text(printed: bytes) -> str:
    return printed.decode(errors="replace")


def main() -> None:
    order = json.load(sys.stdin)
    leak(order["canaries"]["secret_file"])
    order["canaries"]["launcher_pid"] = os.getpid()
    ground = Ground(**order["ground"])
    json.dump(run(order, ground), sys.stdout)


if __name__ == "__main__":
    main()
