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
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from typing import Any

SECONDS = 30.0
_NEWUSER, _NEWNS, _NEWPID, _NEWNET, _NEWIPC = 0x1000_0000, 0x0002_0000, 0x2000_0000, 0x4000_0000, 0x0800_0000
_PRIVATE = 0x4_4000

Control = Callable[[Any, Any], Any]


def probe(function: Any, canaries: Any) -> Any:
    """The same function, as it is."""
    return function(canaries)


def probe_in_namespaces(function: Any, canaries: Any) -> Any:
    """The same function, by the root of a fresh user namespace: what an ordinary user may do, but only there."""
    uid, gid = os.getuid(), os.getgid()
    if ctypes.CDLL(None, use_errno=True).unshare(_NEWUSER | _NEWNS | _NEWNET | _NEWIPC) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    _map(uid, gid)
    return function(canaries)


def _map(uid: int, gid: int) -> None:
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)


def probe_in_a_pid_namespace(function: Any, canaries: Any) -> Any:
    """The same function, where process 1 and everybody else are of this control's making."""
    uid, gid = os.getuid(), os.getgid()
    if ctypes.CDLL(None, use_errno=True).unshare(_NEWUSER | _NEWNS | _NEWPID) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    _map(uid, gid)
    return _attempt(**in_a_child(partial(_beside_process_1, function, canaries)))


def _beside_process_1(function: Any, canaries: Any) -> Any:
    """Process 1 of a namespace: it shows the namespace, bears somebody else, and lets a child try."""
    if ctypes.CDLL(None, use_errno=True).mount(b"proc", b"/proc", b"proc", 0, None) != 0:
        raise OSError(ctypes.get_errno(), "mount")
    if os.fork() == 0:
        signal.pause()
    return _attempt(**in_a_child(partial(function, canaries.model_copy(update={"launcher_pid": 1}))))


def probe_in_a_mount_namespace(function: Any, canaries: Any) -> Any:
    """The same function, by root with mounts of its own, so that the machine keeps its mounts."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEWNS) != 0 or libc.mount(None, b"/", None, _PRIVATE, None) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    return function(canaries)


def probe_twice(function: Any, canaries: Any) -> Any:
    """The same function, twice in one process and one folder; the folder is one that imports look in."""
    sys.path.insert(0, os.getcwd())
    function(canaries)
    return function(canaries)


def probe_that_ends(function: Any, canaries: Any) -> Any:
    """The same function, with the one link in its way that makes its loop end."""
    os.symlink(canaries.secret_file, "b")
    return function(canaries)


def probe_that_outlives_a_signal(function: Any, canaries: Any) -> Any:
    """The same function does not end by the signal that asks a process to end."""
    pid = os.fork()
    if pid == 0:
        function(canaries)
        os._exit(0)
    os.waitpid(pid, os.WUNTRACED)
    os.kill(pid, signal.SIGTERM)
    os.kill(pid, signal.SIGCONT)
    return _still_there(pid)


def probe_among_files(function: Any, canaries: Any) -> Any:
    """The same function, in a folder with the agent's files as they lie on disk."""
    os.makedirs("a/b")
    os.chdir("a")
    for name in ("knowledge", "private", "outbox"):
        os.mkdir(name)
    for name in ("knowledge/note", "private/note"):
        with open(name, "w", encoding="utf-8") as file:
            file.write("a note")
    os.symlink(canaries.secret_file, "knowledge/to_the_secret")
    os.symlink("../private/note", "knowledge/sideways")
    return function(canaries)


def probe_with_careless_files(function: Any, canaries: Any) -> Any:
    """The same function, with a context that opens whatever it is asked for."""
    return probe_among_files(partial(function, _Careless()), canaries)


def probe_on_a_copy(function: Any, canaries: Any) -> Any:
    """The same function, on a program of its own: what it does to a listed one must not be done to the machine's."""
    os.mkdir("copies")
    os.environ["A_COPY_OF_WC"] = shutil.copy("/usr/bin/wc", os.path.abspath("copies/wc"))
    return function(canaries)


class _Careless:
    """A context whose files are those of the machine."""

    @property
    def files(self) -> Any:
        return self

    def read_text(self, path: str) -> str:
        with open(path, encoding="utf-8") as file:
            return file.read()


def probe_that_waits(function: Any, canaries: Any) -> Any:
    """The same function has not ended after a second."""
    pid = os.fork()
    if pid == 0:
        function(canaries)
        os._exit(0)
    return _still_there(pid)


def probe_that_kills_itself(function: Any, canaries: Any) -> Any:
    """The same function reaches a part of the kernel that ends its caller; an older kernel lacks that part."""
    told = in_a_child(partial(function, canaries))
    reached = told["outcome"] == "died" or told["detail"] == "ENOSYS"
    return _attempt(outcome="succeeded" if reached else "stopped", detail=str(told).replace("=", ":"))


def unknown_to_the_kernel_too(function: Any, canaries: Any) -> Any:
    """No kernel knows these calls yet, so that only the answer can be compared: both refuse, as unknown."""
    told = function(canaries)
    same = told.outcome == "stopped" and told.detail.count("ENOSYS") == told.detail.count("=")
    return _attempt(outcome="succeeded" if same else "stopped", detail="every answer is that of an unknown call")


def _still_there(pid: int) -> Any:
    ended, _, _ = select.select([os.pidfd_open(pid)], [], [], 1.0)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return _attempt(outcome="stopped" if ended else "succeeded", detail="ended" if ended else "still there")


def _attempt(**fields: str) -> Any:
    return importlib.import_module("probes.attempt").Attempt(**fields)


def run(order: dict[str, Any]) -> dict[str, Any]:
    sys.path.insert(0, order["tools"])
    canaries = importlib.import_module("probes.attempt").Canaries(**order["canaries"])
    told: dict[str, Any] = {}
    for module, name, control in order["controls"]:
        declared = getattr(importlib.import_module(f"probes.{module}"), name)
        told[name] = in_a_child(partial(_control(control), declared.implementation.function, canaries))
    return {"rows": told}


def _control(name: str) -> Control:
    found: Control = globals()[name.replace(" ", "_")]
    return found


def in_a_child(act: Callable[[], Any]) -> dict[str, str]:
    """What an act came to in a process of its own, with a scratch folder of its own."""
    reading, writing = os.pipe()
    with tempfile.TemporaryDirectory(dir=".", ignore_cleanup_errors=True) as scratch:
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
        told = act()
        os.write(writing, json.dumps(told if isinstance(told, dict) else told.model_dump()).encode())
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
    """With the descriptors that the campaign leaves open too."""
    sys.path.append(os.path.dirname(__file__))
    json.dump(run(importlib.import_module("campaign").given()), sys.stdout)


if __name__ == "__main__":
    main()
