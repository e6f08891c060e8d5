"""Line 171: no two calls get the same random bytes, though all are forked from one process that used them before."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.attack.lair import open_lair

pytestmark = pytest.mark.req("SBX-2")

_CALLS = 40

# Every source is used while importing, so that its state is there to be inherited.
DRAWER = '''
import ctypes, hashlib, os, random, secrets, ssl, tempfile, uuid

libc = ctypes.CDLL(None)
SHUFFLED = random.SystemRandom()

def draw():
    drawn = {
        "openssl": ssl.RAND_bytes(16).hex(),
        "random": f"{random.getrandbits(128):x}",
        "choice": "".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=24)),
        "system random": f"{SHUFFLED.getrandbits(128):x}",
        "the second of two that are drawn at once": random.gauss(0, 1).hex(),
        "place": f"{uuid.getnode():x}",
        "uuid1": uuid.uuid1().hex,
        "uuid1 without its time": "{0.node:x}-{0.clock_seq:x}".format(uuid.uuid1()),
        "uuid4": uuid.uuid4().hex,
        "urandom": os.urandom(16).hex(),
        "getrandom": os.getrandom(16).hex(),
        "secrets": secrets.token_hex(16),
        "names": "/".join(next(tempfile._get_candidate_names()) for _ in range(3)),
    }
    if hasattr(libc, "arc4random"):
        drawn["arc4random"] = "".join(f"{libc.arc4random() & 0xFFFFFFFF:08x}" for _ in range(4))
    return drawn

draw()

@tool(safety="read")
def drawn() -> dict[str, str]:
    """Draw from every source of random bytes."""
    return draw()
'''

# What the jail must not be: children that Python and OpenSSL were not told about.
RAW_CLONES = """
import ctypes, json, os, random, signal
random.getrandbits(8)
libc = ctypes.PyDLL(None)
told = []
for _ in range(2):
    reading, writing = os.pipe()
    if libc.syscall(56, signal.SIGCHLD, 0, 0, 0, 0) == 0:
        os.write(writing, b"%x" % random.getrandbits(128))
        os._exit(0)
    told.append(os.read(reading, 64).decode())
print(json.dumps(told))
"""


async def test_line_171_no_two_calls_draw_the_same_from_any_source(tmp_path: Path) -> None:
    async with open_lair(tmp_path, {"drawer": DRAWER}) as lair:
        draws = await asyncio.gather(*(lair.said("drawn") for _ in range(_CALLS)))
    repeated = {source for source in draws[0] if len({draw[source] for draw in draws}) != _CALLS}
    assert repeated == set()
    assert len(draws[0]) >= 10


def test_children_that_nobody_told_of_their_birth_draw_the_same() -> None:
    done = subprocess.run([sys.executable, "-c", RAW_CLONES], capture_output=True, text=True, check=True)
    first, second = json.loads(done.stdout)
    assert first == second
