"""Without a pid namespace a warden has something to do before it ends, and is left the time to do it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from ringfence.sandbox.processes import Held
from ringfence.sandbox.walls import ConfinedWalls

pytestmark = pytest.mark.req("SBX-9")

# Nobody here dies with a parent: what the warden does is all that ends them.
WARDEN = """
import os, signal, time
from ringfence.inside import confined
from ringfence.kernel import namespaces
namespaces.adopt_orphans()
signal.pthread_sigmask(signal.SIG_BLOCK, confined.WARDEN_SIGNALS)
said, told = os.pipe()
if (child := os.fork()) == 0:
    os.fork()
    os.write(told, f"{os.getpid()} ".encode())
    time.sleep(600)
numbers = b""
while numbers.count(b" ") < 2:
    numbers += os.read(said, 100)
print(numbers.decode(), flush=True)
while True:
    confined.wait_for_news()
"""
POLITE = """
import signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
print("ready", flush=True)
signal.pause()
"""


@contextmanager
def started(code: str) -> Generator[tuple[subprocess.Popen[str], str]]:
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_a_warden_that_is_asked_to_end_ends_first_what_nothing_else_would() -> None:
    with started(WARDEN) as (warden, said):
        born = {int(number) for number in said.split()}
        assert len(born) == 2
        try:
            warden.send_signal(signal.SIGTERM)
            assert warden.wait(timeout=30) == 0
            assert not [pid for pid in born if Path(f"/proc/{pid}").exists()]
        finally:
            for pid in born:
                if Path(f"/proc/{pid}").exists():
                    os.kill(pid, signal.SIGKILL)


def test_a_confined_jail_is_closed_by_asking_its_warden() -> None:
    with started(POLITE) as (process, said):
        assert said == "ready\n"
        held = Held(process.pid)
        ConfinedWalls(cast("Any", None), cast("Any", None)).end(held)
        assert process.wait(timeout=30) == 7
        held.let_go()
