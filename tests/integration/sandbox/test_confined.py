"""Without namespaces tools run under Landlock and seccomp alone, measured and said so; whatever ends, ends whole."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest

from tests.integration.sandbox.conftest import NOBODY

pytestmark = pytest.mark.req("SBX-2", "SBX-3", "SBX-6", "SBX-9")

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
LAUNCHER = ROOT / "tests" / "attack" / "launcher.py"
SECONDS = 90
SECONDS_TO_END = 20
# Root's jails run as users of their own, and an ordinary user has no way to a private home: both need this one.
PYTHON = "/usr/bin/python3"

Who = Literal["root", "user"]


def environment() -> dict[str, str]:
    packages = [path for path in sys.path if path.endswith("-packages")]
    source = [path for path in sys.path if Path(path, "ringfence", "kernel").is_dir() and path not in packages]
    return {"PATH": os.defpath, "PYTHONPATH": os.pathsep.join([*source, *packages, str(HERE)]), "CANARY": "x"}


def command(*arguments: str, landlock: int, without: str = "namespaces") -> list[str]:
    limits = ["--without", without, "--landlock", str(landlock)]
    return [PYTHON, "-P", str(LAUNCHER), *limits, str(HERE / "in_confinement.py"), *arguments]


def as_whom(who: Who) -> dict[str, Any]:
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if who == "user" else {}


@pytest.mark.parametrize("who", ["root", "user"])
@pytest.mark.parametrize("landlock", [1, pytest.param(3, marks=pytest.mark.long), 7])
def test_tools_run_confined_where_there_are_no_namespaces(who: Who, landlock: int) -> None:
    done = subprocess.run(
        command("calls", landlock=landlock), env=environment(), cwd="/", capture_output=True, text=True, check=False,
        timeout=SECONDS, **as_whom(who),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    evidence, tries, random = told.pop("evidence"), told.pop("tries"), told.pop("random")
    # Others of the user come and go while the kernel counts; the host's own look is at this process alone.
    least, most = (1, 200) if who == "user" else (16, 80)
    threads = told.pop("threads")
    assert threads == "pids_limit" or least <= threads < most
    assert len(told.pop("brood")) == 3
    assert told == {
        "reply": 3,
        "at_once": [1, 2, 3, 4, 5, 6],
        "faults": ["cpu_limit", "cpu_limit", "memory_limit", "pids_limit", "protocol_error", "tool_error"],
        "early": {
            "read": "EACCES",
            "list": "EACCES",
            "write": "EACCES",
            "socket": "EPERM",
            "run": "EPERM",
            "signal": "EPERM",
            "mode": "EPERM",
        },
        "sibling": "EPERM",
        "peak": True,
        "too_many": "pids_limit",
        "strict": "posture_insufficient",
        "left": [],
    }
    assert evidence["posture"] == "confined"
    assert {name for name, outcome in tries.items() if outcome == "done"} == {"private memory"}
    assert len(set(random)) == 3
    process = evidence["process"]
    assert (process["seccomp"], process["no_new_privileges"], process["capabilities"]) == (2, 1, "0")
    assert (process["uid"] == NOBODY) is (who == "user")
    assert process["uid"] != 0


@contextmanager
def waiting_host(who: Who) -> Generator[tuple[subprocess.Popen[str], list[int]]]:
    """A host that stands still, and who lives below it; whatever a test finds out, nobody of them stays."""
    words = command("wait", landlock=7)
    host = subprocess.Popen(words, env=environment(), cwd="/", stdout=subprocess.PIPE, text=True, **as_whom(who))
    assert host.stdout is not None
    born: list[int] = []
    try:
        born += json.loads(host.stdout.readline())
        yield host, born
    finally:
        host.kill()
        host.wait()
        host.stdout.close()
        for pid in filter(_runs, born):
            os.kill(pid, signal.SIGKILL)


def assert_ended(pids: list[int]) -> None:
    until = time.monotonic() + SECONDS_TO_END
    while alive := [pid for pid in pids if _runs(pid)]:
        assert time.monotonic() < until, alive


@pytest.mark.parametrize("who", ["root", "user"])
def test_a_host_that_is_killed_takes_every_confined_process_with_it(who: Who) -> None:
    with waiting_host(who) as (host, born):
        assert len(born) >= 5
        assert all(map(_runs, born))
        host.kill()
        assert_ended(born)


@pytest.mark.parametrize("who", ["root", "user"])
def test_a_warden_that_is_killed_takes_its_zygote_with_it_and_the_host_the_rest(who: Who) -> None:
    with waiting_host(who) as (host, born):
        zygote, warden = born[-2:]
        host.send_signal(signal.SIGSTOP)  # else it would let go of a jail that is lost, and so end the zygote
        os.kill(warden, signal.SIGKILL)
        assert_ended([zygote, warden])
        host.kill()
        assert_ended(born)


@pytest.mark.parametrize("who", ["root", "user"])
def test_a_fork_server_that_is_killed_takes_every_confined_process_with_it(who: Who) -> None:
    with waiting_host(who) as (_, born):
        server = int(Path(f"/proc/{born[-1]}/stat").read_text().rpartition(")")[2].split()[1])
        os.kill(server, signal.SIGKILL)
        assert_ended([server, *born])


@pytest.mark.parametrize("who", ["root", "user"])
def test_nothing_is_left_after_200_confined_calls_with_random_kills(who: Who) -> None:
    done = subprocess.run(
        command("soak", landlock=7), env=environment(), cwd="/", capture_output=True, text=True, check=False,
        timeout=SECONDS, **as_whom(who),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    print(told)
    assert (told["after"], told["left"]) == (5, [])
    assert sum(told["told"].values()) == 200
    assert told["told"]["completed"] > 60


def test_no_import_moves_its_host_into_a_group_that_ends_with_a_jail() -> None:
    done = subprocess.run(
        command("doors", landlock=7), env=environment(), cwd="/", capture_output=True, text=True, check=False,
        timeout=SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, (done.returncode, done.stderr)
    told = json.loads(done.stdout)
    counted = told.pop("counted")
    assert counted
    assert told == {"said": [], "moved": False, "moved by a door": True}


def _runs(pid: int) -> bool:
    """Whether a process has not ended; one that nobody has waited for has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize("who", ["root", "user"])
def test_namespaces_that_have_only_run_out_are_no_reason_to_confine_less(who: Who) -> None:
    done = subprocess.run(
        command("calls", landlock=7, without="memory for namespaces"), env=environment(), cwd="/", capture_output=True,
        text=True, check=False, timeout=SECONDS, **as_whom(who),
    )  # fmt: skip
    assert done.returncode != 0
    assert "no jail could be made" in done.stderr
    assert "annot allocate memory" in done.stderr


def test_root_is_refused_an_installation_that_its_jails_cannot_read(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    (private / "site-packages").mkdir()
    words = command("calls", landlock=7)
    hidden = os.pathsep.join([environment()["PYTHONPATH"], str(private / "site-packages")])
    done = subprocess.run(
        words, env={**environment(), "PYTHONPATH": hidden}, cwd="/", capture_output=True, text=True, check=False,
        timeout=SECONDS,
    )  # fmt: skip
    assert done.returncode != 0
    assert "is not readable by the jail's own user" in done.stderr
