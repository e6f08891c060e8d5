"""Shows that each try works where there is no jail: the same function, in a plain child process.

Takes: an order as JSON on standard input.  Gives: {probe: {outcome, detail}} as JSON.  Never: harms the machine: what
would, has a named control that does it where it harms nobody.

It is a script of its own, because it is started as root and as an ordinary user, with the same canaries.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import select
import signal
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from typing import Any

CANARY_DESCRIPTOR = 9
SECONDS = 10.0
_NEWUSER, _NEWNS, _NEWPID, _NEWNET, _NEWIPC = 0x1000_0000, 0x0002_0000, 0x2000_0000, 0x4000_0000, 0x0800_0000

Control = Callable[[Any, Any], Any]


def probe(function: Any, canaries: Any) -> Any:
    """The same function, as it is."""
    return function(canaries)


def probe_in_namespaces(function: Any, canaries: Any) -> Any:
    """The same function, by the root of a fresh user namespace: what an ordinary user may do, but only there."""
    uid, gid = os.getuid(), os.getgid()
    if ctypes.CDLL(None, use_errno=True).unshare(_NEWUSER | _NEWNS | _NEWNET | _NEWIPC) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
    return function(canaries)


def run(order: dict[str, Any]) -> dict[str, Any]:
    sys.path.insert(0, order["tools"])
    canaries = importlib.import_module("probes.attempt").Canaries(**order["canaries"])
    told: dict[str, Any] = {}
    for module, name, control in order["controls"]:
        declared = getattr(importlib.import_module(f"probes.{module}"), name)
        told[name] = in_a_child(partial(_control(control), declared.implementation.function, canaries))
    return told


def _control(name: str) -> Control:
    found: Control = globals()[name.replace(" ", "_")]
    return found


def in_a_child(act: Callable[[], Any]) -> dict[str, str]:
    """What an act came to in a process of its own, with a scratch folder of its own."""
    reading, writing = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            _child(act, writing=writing, scratch=scratch)
        os.close(writing)
        told = _heard(reading)
        os.close(reading)
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
    if told:
        return dict(json.loads(told))
    return {"outcome": "died", "detail": f"status {os.waitstatus_to_exitcode(status)}"}


def _child(act: Callable[[], Any], *, writing: int, scratch: str) -> None:
    try:
        os.chdir(scratch)
        attempt = act()
        os.write(writing, json.dumps({"outcome": attempt.outcome, "detail": attempt.detail}).encode())
    except BaseException as failure:
        os.write(writing, json.dumps({"outcome": "raised", "detail": repr(failure)}).encode())
    finally:
        os._exit(0)


def _heard(reading: int) -> bytes:
    ready, _, _ = select.select([reading], [], [], SECONDS)
    if not ready:
        return json.dumps({"outcome": "hung", "detail": f"no answer in {SECONDS} s"}).encode()
    return os.read(reading, 65_536)


def main() -> None:
    order = json.load(sys.stdin)
    leaked = os.open(order["canaries"]["secret_file"], os.O_RDONLY)
    os.dup2(leaked, CANARY_DESCRIPTOR, inheritable=True)
    order["canaries"]["launcher_pid"] = os.getpid()
    json.dump(run(order), sys.stdout)


if __name__ == "__main__":
    main()
