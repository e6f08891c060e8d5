"""A mechanism is tried in a child of the test, and the child tells what happened."""

from __future__ import annotations

import errno
import json
import os
import signal
from collections.abc import Callable
from typing import Any

from ringfence.kernel.namespaces import NEW_USER, IdMap, become, clone, set_dumpable, write_maps

UNUSED_UID = 3_000_000_000
INNER_UID = 1000


def in_child(act: Callable[[], object], *, flags: int = 0) -> Any:
    """What `act` returned in a child born with these clone flags, or the signal that ended it."""
    answer, told = os.pipe()
    gate, opened = os.pipe()
    pid = clone(flags)
    if pid == 0:
        os.close(opened)
        _play(act, flags=flags, gate=gate, told=told)
    os.close(told)
    os.close(gate)
    if flags & NEW_USER:
        _map(pid)
    os.close(opened)
    with os.fdopen(answer, "rb") as reader:
        text = reader.read()
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code < 0:
        return signal.Signals(-code).name
    outcome = json.loads(text)
    assert "raised" not in outcome, outcome["raised"]
    return outcome["gave"]


def errno_of(act: Callable[[], object]) -> str:
    """The name of the errno that `act` meets, or `done` if it meets none."""
    try:
        act()
    except OSError as failure:
        return errno.errorcode[failure.errno or 0]
    return "done"


def _play(act: Callable[[], object], *, flags: int, gate: int, told: int) -> None:
    try:
        if flags & NEW_USER:
            os.read(gate, 1)
            become(INNER_UID, gid=INNER_UID)
            set_dumpable("dumpable")
        os.write(told, json.dumps({"gave": act()}).encode())
    except BaseException as failure:
        os.write(told, json.dumps({"raised": repr(failure)}).encode())
    finally:
        os._exit(0)


def _map(pid: int) -> None:
    privileged = os.geteuid() == 0
    write_maps(
        pid,
        uid=IdMap(inside=INNER_UID, outside=UNUSED_UID if privileged else os.geteuid()),
        gid=IdMap(inside=INNER_UID, outside=UNUSED_UID if privileged else os.getegid()),
        setgroups="keep" if privileged else "deny",
    )
