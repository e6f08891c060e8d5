"""Lines 29, 77 and 172: calls that run side by side find nothing of each other and take nothing from each other."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.attack.lair import answer, open_lair, unjailed

pytestmark = pytest.mark.req("SBX-2", "SBX-10")

SIBLINGS = '''
import ctypes, errno, os, socket, struct, threading, time

libc = ctypes.CDLL(None, use_errno=True)

@tool(safety="read")
def hold(mark: str, seconds: float) -> str:
    """Leave a mark in memory, scratch, environment and on open ports, for a while."""
    kept = bytearray(mark.encode() * 64)
    os.environ["MARK"] = mark
    open(f"/tmp/sibling-{mark}", "w").write(mark)
    opened = []
    for family, address in ((socket.AF_INET, ("127.0.0.1", 0)), (socket.AF_UNIX, chr(0) + f"sibling-{mark}")):
        try:
            door = socket.socket(family, socket.SOCK_STREAM)
            door.bind(address)
            door.listen()
            opened.append(door)
        except OSError:
            continue
    time.sleep(seconds)
    os.unlink(f"/tmp/sibling-{mark}")
    return f"{len(kept)}"

@tool(safety="read")
def seek(mark: str) -> list[str]:
    """Look for a sibling: its processes, scratch, memory, ports; gives what was found."""
    found = []
    mine = os.getpid()
    for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):
        if pid != mine and marked(pid, mark):
            found.append("process")
    if os.path.exists(f"/tmp/sibling-{mark}"):
        found.append("scratch")
    try:
        door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        door.connect(chr(0) + f"sibling-{mark}")
        found.append("port")
    except OSError as failure:
        found += ["socket"] if failure.errno == errno.ECONNREFUSED else []
    return sorted(set(found))

def marked(pid, mark):
    try:
        return mark.encode() in open(f"/proc/{pid}/cmdline", "rb").read()
    except OSError:
        return False

@tool(safety="read")
def reach(most: int) -> dict[str, list[int]]:
    """Try to signal, trace, read and rob every process number; gives the numbers that answered."""
    answered = {"signal": [], "trace": [], "memory": [], "rob": [], "see": []}
    here = ctypes.create_string_buffer(8)
    for pid in range(1, most):
        if pid == os.getpid():
            continue
        vector = struct.pack("QQ", ctypes.addressof(here), 8)
        for name, act in {
            "signal": lambda: libc.kill(pid, 0),
            "trace": lambda: libc.syscall(101, 0x4206, pid, 0, 0),
            "memory": lambda: libc.syscall(310, pid, vector, 1, vector, 1, 0),
            "rob": lambda: libc.syscall(434, pid, 0),
        }.items():
            if act() >= 0:
                answered[name].append(pid)
        if os.path.exists(f"/proc/{pid}"):
            answered["see"].append(pid)
    return answered

@tool(safety="read")
def crowd(seconds: float) -> int:
    """Start as many threads as there may be, and keep them for a while."""
    threading.stack_size(65536)
    over = threading.Event()
    started = 0
    try:
        while started < 500:
            threading.Thread(target=over.wait, daemon=True).start()
            started += 1
    except RuntimeError:
        pass
    time.sleep(seconds)
    over.set()
    return started

@tool(safety="read")
def widen() -> dict[str, str]:
    """Look for an inherited Landlock ruleset, and try to add a rule to every descriptor."""
    paths = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
    links = [os.readlink(path) for path in paths if os.path.lexists(path)]
    root = os.open("/tmp", os.O_RDONLY)
    rule = struct.pack("=Qi", 1 << 2, root)
    answers = set()
    for number in range(64):
        done = libc.syscall(445, number, 1, rule, 0) == 0
        answers.add("widened" if done else errno.errorcode[ctypes.get_errno()])
    return {"rulesets": str([link for link in links if "landlock" in link]), "answers": " ".join(sorted(answers))}

RULESET = libc.syscall(444, struct.pack("Q", 1 << 2), 8, 0)
'''

_MARK = "mark-5b1f"


async def test_line_077_and_029_a_call_finds_nothing_of_its_sibling(tmp_path: Path) -> None:
    async with open_lair(tmp_path, {"siblings": SIBLINGS}) as lair:
        holding = [asyncio.create_task(lair.said("hold", mark=_MARK, seconds=0.6)) for _ in range(2)]
        sought = [await lair.said("seek", mark=_MARK) for _ in range(5)]
        reached = await lair.said("reach", most=400)
        assert not any(task.done() for task in holding)
        await asyncio.gather(*holding)
    assert sought == [[]] * 5
    assert reached == {"signal": [], "trace": [], "memory": [], "rob": [], "see": []}


def test_without_the_jail_a_sibling_is_found(tmp_path: Path) -> None:
    module = tmp_path / "siblings.py"
    module.write_text("from __future__ import annotations\nfrom ringfence import tool\n" + SIBLINGS, encoding="utf-8")
    holding = unjailed(module, "hold", mark=_MARK, seconds=30.0)
    try:
        found: list[str] = []
        while len(found) < 3 and holding.poll() is None:
            found = answer(unjailed(module, "seek", mark=_MARK))
    finally:
        holding.kill()
        holding.communicate()
        Path(f"/tmp/sibling-{_MARK}").unlink(missing_ok=True)
    assert found == ["port", "process", "scratch"]


async def test_line_172_a_crowd_in_one_call_leaves_its_sibling_its_own_limit(tmp_path: Path) -> None:
    async with open_lair(tmp_path, {"siblings": SIBLINGS}) as lair:
        alone = await lair.said("crowd", seconds=0.0)
        together = await asyncio.gather(*(lair.said("crowd", seconds=0.4) for _ in range(3)))
    assert 32 <= alone < 64
    assert together == [alone] * 3


async def test_line_172_no_call_can_widen_a_ruleset(tmp_path: Path) -> None:
    async with open_lair(tmp_path, {"siblings": SIBLINGS}) as lair:
        assert await lair.said("widen") == {"rulesets": "[]", "answers": "EPERM"}
