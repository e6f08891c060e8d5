"""What a fork server loads first: locks are renewed in a child where a thread could have held one, and only there."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ringfence.inside import start

pytestmark = pytest.mark.req("SBX-1")

# In an interpreter of its own: this one has loaded `logging` long ago.
_CHILD = """
import os, runpy, sys
runpy.run_path(sys.argv[1])["_load_what_renews_itself"]()
import logging, threading
handler, held, over = logging.StreamHandler(), threading.Event(), threading.Event()
renewed = []
os.register_at_fork(after_in_child=lambda: renewed.append("a tool's own hook"))

def hold():
    with handler.lock:
        held.set()
        over.wait()

thread = threading.Thread(target=hold)
if sys.argv[2] == "two threads":
    thread.start()
    held.wait()
child = os.fork()
if child == 0:
    free = handler.lock.acquire(blocking=False)
    logging.getLogger("x").warning("said")
    print(free, len(threading.enumerate()), renewed, flush=True)
    os._exit(0)
os.waitpid(child, 0)
over.set()
"""


@pytest.mark.parametrize("threads", ["one thread", "two threads"])
def test_a_child_finds_every_lock_free_and_no_thread_but_its_own(threads: str) -> None:
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-W", "ignore", "-c", _CHILD, start.__file__, threads],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert run.stdout == 'True 1 ["a tool\'s own hook"]\n', run.stderr


def test_without_a_second_thread_no_lock_is_renewed() -> None:
    counted = _CHILD.replace(
        "child = os.fork()", "before = id(threading._active_limbo_lock)\nchild = os.fork()"
    ).replace("print(free,", "print(id(threading._active_limbo_lock) == before) or print(free,")
    seen = {
        threads: subprocess.run(
            [sys.executable, "-I", "-S", "-W", "ignore", "-c", counted, start.__file__, threads],
            capture_output=True, text=True, timeout=60, check=True,
        ).stdout.splitlines()[0]
        for threads in ("one thread", "two threads")
    }  # fmt: skip
    assert seen == {"one thread": "True", "two threads": "False"}


def test_children_draw_other_numbers_than_their_parent_and_each_other() -> None:
    drawing = """
import os, runpy, sys
runpy.run_path(sys.argv[1])["_load_what_renews_itself"]()
import random
drawn = [random.random()]
for _ in range(3):
    heard, said = os.pipe()
    if os.fork() == 0:
        os.write(said, str(random.random()).encode())
        os._exit(0)
    drawn.append(float(os.read(heard, 64)))
print(len(set(drawn)))
"""
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-W", "ignore", "-c", drawing, start.__file__],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert run.stdout == "4\n", run.stderr
