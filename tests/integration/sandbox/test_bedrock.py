"""Every process of a jail stands on one file of memory, which none of them can change for another."""

from __future__ import annotations

import asyncio
import ctypes
import json
import mmap
import os
import sys

import pydantic
import pytest
import pytest_asyncio

from ringfence.inside.bedrock import Bedrock, lay
from ringfence.kernel.attempts import Attempt, Obstacle
from tests.integration.sandbox.driver import Yard

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.req("SBX-2")]
REMOVE = 9


@pytest_asyncio.fixture(autouse=True, scope="module", loop_scope="module")
async def _tools(yard: Yard) -> None:
    await yard.load("standing")


async def test_a_call_stands_on_what_the_fork_server_laid_down(yard: Yard) -> None:
    assert await yard.output("stands_on") > 10


async def test_no_call_changes_what_others_stand_on(yard: Yard) -> None:
    spoilt = await yard.output("spoil")
    assert spoilt.pop("own copy") != [pydantic.VERSION]
    assert spoilt["take pages out"] == ["EACCES"]
    assert set(spoilt["open it"]) <= {"EPERM", "EACCES", "ENOENT"}
    assert await yard.output("word") == pydantic.VERSION


async def test_pages_can_be_taken_out_of_a_file_that_is_shared_and_not_sealed() -> None:
    """What the tool above tries does work, where nothing is in its way."""
    descriptor = os.memfd_create("open")
    os.write(descriptor, b"x" * mmap.PAGESIZE)
    mapped = mmap.mmap(descriptor, mmap.PAGESIZE)
    mapped.madvise(REMOVE)
    assert mapped[0] == 0
    os.close(descriptor)


async def test_what_a_tool_imports_holds_no_descriptor_that_watches_memory(yard: Yard) -> None:
    assert await yard.output("held_at_import") == 4


_LAID = """
import gc, json, os, sys
from ringfence.inside import bedrock

def written() -> int:
    with open("/proc/self/smaps_rollup") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("Anonymous:"))

kept = {str(number): [number, str(number) * 9, {"deep": (number,)}] for number in range(50_000)}
before = written()
below = bedrock.lay(bedrock.begin_trial())
same = all(kept[str(n)] == [n, str(n) * 9, {"deep": (n,)}] for n in range(0, 50_000, 500))
after = written()
gc.collect()
more = [bytes(100_000) for _ in range(100)]
child = os.fork()
if child == 0:
    kept.clear()
    os._exit(0 if len(more) == 100 and not kept else 1)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
names = [line for line in open("/proc/self/maps") if "memfd:bedrock" in line]
# Whoever owns the machine can open what others cannot even name; what is sealed takes nothing from them either.
file = os.open(f"/proc/self/map_files/{names[0].split()[0]}", os.O_RDWR)
try:
    sealed = f"took {os.pwrite(file, b'!', 0)}"
except PermissionError:
    sealed = "refused"
print(json.dumps({"sealed": sealed, "same": same, "part": after / before, "child": status, "kept": len(kept),
                  "pieces": len(below.pieces), "named": len(names)}))
"""


async def test_a_process_goes_on_with_what_it_had_after_its_memory_was_laid_down() -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", _LAID, stdout=asyncio.subprocess.PIPE)
    said, _ = await process.communicate()
    assert process.returncode == 0
    told = json.loads(said)
    assert (told["same"], told["child"], told["kept"]) == (True, 0, 50_000)
    assert told["sealed"] == "refused"
    assert told["pieces"] > 10
    assert told["named"] > 0
    assert told["part"] < 0.5, told


_INHERITED = """
import ctypes, json, os, struct
from ringfence.inside import bedrock

def mapped(start, length):
    with open("/proc/self/pagemap", "rb", buffering=0) as pages:
        entries = os.pread(pages.fileno(), length // 4096 * 8, start // 4096 * 8)
    return sum(entry >> 63 for (entry,) in struct.iter_unpack("Q", entries))

def in_file(start):
    for line in open("/proc/self/maps"):
        fields = line.split(maxsplit=5)
        if int(fields[0].split("-")[0], 16) == start:
            with open(fields[5].strip(), "rb") as file:
                file.seek(int(fields[2], 16))
                return file.read(4096)

code = bedrock.lay(bedrock.begin_trial()).code
busiest = max(code, key=lambda range: mapped(*range))
before = mapped(*busiest)
heard, said = os.pipe()
if os.fork() == 0:
    os.write(said, str(mapped(*busiest)).encode())
    os._exit(0)
print(json.dumps({"ranges": len(code), "pages": busiest[1] // 4096,
                  "mapped": before, "in a child": int(os.read(heard, 9)),
                  "as in their files": all(ctypes.string_at(start, 4096) == in_file(start) for start, _ in code)}))
"""


async def test_a_child_finds_the_code_that_its_parent_ran_mapped_and_no_other() -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", _INHERITED, stdout=asyncio.subprocess.PIPE)
    said, _ = await process.communicate()
    assert process.returncode == 0
    told = json.loads(said)
    assert told["ranges"] > 1
    assert told["as in their files"]
    assert told["in a child"] >= told["mapped"] - 16 > 16
    assert told["in a child"] < told["pages"] / 2


_LET_GO = """
import ctypes, json, os, struct
from ringfence.inside import bedrock, inherited

def mapped(start, length):
    with open("/proc/self/pagemap", "rb", buffering=0) as pages:
        entries = os.pread(pages.fileno(), length // 4096 * 8, start // 4096 * 8)
    return sum(entry >> 63 for (entry,) in struct.iter_unpack("Q", entries))

code = bedrock.lay(bedrock.begin_trial()).code
import decimal, email.parser, sqlite3  # code that runs once
text = [ctypes.string_at(start, 64) for start, _ in code]
before = sum(mapped(*range) for range in code)
inherited.let_go(code)
after = sum(mapped(*range) for range in code)
heard, said = os.pipe()
if os.fork() == 0:
    os.write(said, str(sum(mapped(*range) for range in code)).encode())
    os._exit(0)
print(json.dumps({"before": before, "after": after, "in a child": int(os.read(heard, 9)),
                  "the same": text == [ctypes.string_at(start, 64) for start, _ in code]}))
"""


async def test_code_that_ran_once_is_let_go_of_and_no_child_inherits_it() -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", _LET_GO, stdout=asyncio.subprocess.PIPE)
    said, _ = await process.communicate()
    assert process.returncode == 0
    told = json.loads(said)
    assert told["after"] < told["before"] / 2, told
    assert told["in a child"] < told["before"], told
    assert told["the same"]


_JOINED = """
import _ctypes, ctypes, json
from ringfence.inside import bedrock

def lines():
    return [line.split() for line in open("/proc/self/maps")]

def span(fields):
    return tuple(int(each, 16) for each in fields[0].split("-"))

def is_as_in_its_file(fields):
    start, end = span(fields)
    with open(fields[5], "rb") as file:
        file.seek(int(fields[2], 16))
        return ctypes.string_at(start, end - start) == file.read(end - start)

before = lines()
fixed = [line for line in before if line[-1] == _ctypes.__file__ and "w" not in line[1]]
code = [line for line in fixed if "x" in line[1]]
bedrock.lay(bedrock.begin_trial())
after = lines()
start, end = span(fixed[0])[0], span(fixed[-1])[1]
print(json.dumps({
    "mappings": [len(before), len(after)],
    "parts": [len(fixed), [line[1] for line in after if span(line)[0] < end and span(line)[1] > start]],
    "same": [is_as_in_its_file(line) for line in code],
    "writable code": [line[0] for line in after if "w" in line[1] and "x" in line[1]],
}))
"""


async def test_what_of_a_small_library_cannot_be_written_to_is_one_mapping_with_the_same_code() -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", _JOINED, stdout=asyncio.subprocess.PIPE)
    said, _ = await process.communicate()
    assert process.returncode == 0
    told = json.loads(said)
    before, after = told["mappings"]
    assert after < before * 0.75, told
    assert told["parts"] == [4, ["r-xp"]]
    assert told["same"] == [True]
    assert told["writable code"] == []


async def test_where_the_child_that_tried_it_died_nothing_is_laid_down() -> None:
    before = ctypes.string_at(id(pydantic), 16)
    below = lay(Attempt(Obstacle(why="the kernel killed the trial with signal 11")))
    assert (below, below.keep_out()) == (Bedrock(), [])
    assert ctypes.string_at(id(pydantic), 16) == before


_CROWDED = """
import os
from ringfence.inside import bedrock

bedrock._MOST_MAPPINGS = 1
trial = os.posix_spawn("/bin/true", ["true"], {})
before = os.listdir("/proc/self/fd")
assert bedrock.lay(bedrock.Attempt(trial)) == bedrock.Bedrock()
assert os.listdir("/proc/self/fd") == before
assert "memfd" not in open("/proc/self/maps").read()
"""


async def test_more_mappings_than_there_is_room_for_leave_memory_as_it_was() -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", _CROWDED)
    assert await process.wait() == 0


_HIDDEN_CODE = """
import os
from ringfence.inside import bedrock, inherited

def refused(watcher, ranges):
    raise OSError("memory of a file system cannot be watched")

inherited.untouched.register = refused
below = bedrock.lay(bedrock.Attempt(os.posix_spawn("/bin/true", ["true"], {})))
assert below.pieces and below.code == ()
"""


async def test_memory_is_laid_down_where_code_cannot_be_inherited() -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", _HIDDEN_CODE)
    assert await process.wait() == 0
