"""Lines 162, 163, 167, 173: a module may do as it likes while it is imported, and reaches nobody but its own calls."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import py_compile
import socket
from collections.abc import Mapping
from pathlib import Path

import pytest

from ringfence.assembly import load_config
from ringfence.errors import CallRefused, ConfigInvalid, DeclarationRefused, RingfenceError
from ringfence.runtime import Completed
from ringfence.sandbox import describe, jail
from ringfence.sandbox.describe import Describer
from ringfence.sandbox.pool import Pool
from ringfence.sandbox.snapshot import Snapshots
from tests.attack import import_tricks
from tests.attack.lair import HEAD, open_lair, settings
from tests.attack.probes import births, importing

pytestmark = pytest.mark.req("CON-13")

# What the host sees from outside, so that no call is handed to it.
SEEN = {
    "no_stage_b": importing.NO_STAGE_B,
    "no_capabilities_dropped": importing.NO_CAPABILITIES_DROPPED,
    "serves_by_itself": births.SERVES_BY_ITSELF,
}
# What the host cannot see, and what the other walls hold all the same.
HARMLESS = {
    "allow_all_stage_b": importing.ALLOW_ALL_STAGE_B,
    "no_landlock": importing.NO_LANDLOCK,
    "no_scratch": importing.NO_SCRATCH,
    "only_the_face_of_a_spare": importing.ONLY_THE_FACE_OF_A_SPARE,
}


@pytest.mark.parametrize("name", SEEN)
async def test_line_173_a_spare_without_its_walls_is_seen_and_gets_no_call(name: str, tmp_path: Path) -> None:
    async with open_lair(tmp_path, {"innocent": importing.INNOCENT}) as honest:
        assert len(await honest.said("innocent")) == 16
    # The describing jail meets the same tricks.
    with pytest.raises(CallRefused, match="a spare is not confined: "):
        async with open_lair(tmp_path, {name: SEEN[name]}):
            pass


@pytest.mark.parametrize("name", HARMLESS)
async def test_line_173_a_spare_that_hides_a_missing_wall_still_reaches_nothing(name: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("canary", encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        async with open_lair(tmp_path, {name: HARMLESS[name], "innocent": importing.INNOCENT}) as lair:
            assert await lair.said("try_everything", secret=str(secret), port=port) == []
            assert len(await lair.said("innocent")) == 16
    assert (tmp_path / "tools" / f"{name}.py").read_text(encoding="utf-8") == HEAD + HARMLESS[name]


async def test_line_173_a_spare_that_does_not_hide_is_judged_at_once(tmp_path: Path) -> None:
    """To root it looks like any other; an ordinary user, to whom only such a process shows itself, refuses it."""
    text = importing.ONLY_THE_FACE_OF_A_SPARE.replace('    namespaces.set_dumpable("hidden")\n', "")
    async with asyncio.timeout(20):
        try:
            async with open_lair(tmp_path, {"shown": text}) as lair:
                answer = str(await lair.said("try_everything", secret="/etc/shadow", port=1))
        except RingfenceError as refused:
            answer = refused.code
    assert answer == ("[]" if os.geteuid() == 0 else "posture_insufficient")


async def test_line_173_a_module_that_is_seen_through_harms_no_other_agent_and_no_other_source(tmp_path: Path) -> None:
    modules = {"two_faced": importing.HONEST_TO_THE_DESCRIBER, "innocent": importing.INNOCENT}
    async with open_lair(tmp_path, modules, agents=("mallory", "ana")) as lair:
        before = _jails()
        caught = await lair.call("try_everything", secret="/etc/shadow", port=1)
        async with asyncio.timeout(5):
            while _jails() - before:  # noqa: ASYNC110  the kernel tells nobody but its parent
                await asyncio.sleep(0.01)
        assert (caught.status, getattr(caught, "code", None)) == ("failed", "posture_insufficient")
        assert len(await lair.said("innocent", by="ana")) == 16
        assert len(await lair.said("innocent", by="mallory")) == 16
        again = await lair.call("try_everything", secret="/etc/shadow", port=1)
        assert (again.status, getattr(again, "code", None)) in (
            ("failed", "posture_insufficient"),
            ("refused", "posture_insufficient"),
        )


@pytest.mark.req("SBX-2")
async def test_line_162_nothing_that_an_import_keeps_joins_two_calls(tmp_path: Path) -> None:
    async with open_lair(tmp_path, {"keeps": importing.KEEPS_THINGS}) as lair:
        left = await lair.said("leave", note="hello")
        assert left == {
            "memory": "here",
            "anonymous": "PermissionError",
            "zero": "PermissionError",
            "file": "PermissionError",
            "/tmp/kept": "OSError",
            "/dev/shm/kept": "FileNotFoundError",
            "/kept": "OSError",
            "/tool/kept": "OSError",
            "pipe": "OSError",
            "pair": "OSError",
            "scratch": "5",
        }
        assert await lair.said("find") == []


@pytest.mark.req("SBX-2")
async def test_line_162_a_thread_of_the_import_is_in_no_call(tmp_path: Path) -> None:
    async with open_lair(tmp_path, {"threaded": importing.KEEPS_A_THREAD, "innocent": importing.INNOCENT}) as lair:
        assert await lair.said("beats") is False
        assert len(await lair.said("innocent")) == 16


@pytest.mark.req("SBX-3")
async def test_line_162_what_an_import_leaves_running_has_a_limit_that_honest_calls_never_meet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jail, "_MOST_CALLS", 4)
    async with open_lair(tmp_path, {"innocent": importing.INNOCENT}) as lair:
        outcomes = await asyncio.gather(*(lair.call("linger") for _ in range(10)))
        assert {outcome.status for outcome in outcomes} == {"completed"}
        wardens = {(await lair.seen(outcome))["process"]["parent"] for outcome in outcomes}
        assert len(wardens) == 3
        last = (await lair.seen(await lair.call("innocent")))["process"]["parent"]
        assert _cpu_limit(_first_child(last)) == 60
    assert [warden for warden in wardens if _is_there(warden)] == []


def _jails() -> set[str]:
    """The first process of every jail: the children of this process's fork server, but for the one without ids that
    waits for an order."""
    servers = [one for task in Path("/proc/self/task").glob("*/children") for one in task.read_text().split()]
    born = [Path(f"/proc/{server}/task/{server}/children") for server in servers]
    return {one for children in born if children.exists() for one in children.read_text().split() if _has_ids(one)}


def _has_ids(pid: str) -> bool:
    try:
        return bool(Path(f"/proc/{pid}/uid_map").read_text())
    except (FileNotFoundError, ProcessLookupError):
        return False


def _first_child(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


def _cpu_limit(pid: int) -> int:
    return int(Path(f"/proc/{pid}/limits").read_text().partition("Max cpu time")[2].split()[1])


def _is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


async def test_line_162_an_import_patches_nothing_of_another_source(tmp_path: Path) -> None:
    modules = {"patcher": importing.PATCHES_ANOTHER, "innocent": importing.INNOCENT}
    async with open_lair(tmp_path, modules) as lair:
        assert await lair.said("patcher") == "patched"
        assert len(await lair.said("innocent")) == 16


async def test_line_162_a_contract_that_changes_with_every_import_is_never_called(tmp_path: Path) -> None:
    async with open_lair(tmp_path, {"liar": importing.LIES_TO_THE_DESCRIBER}) as lair:
        outcome = await lair.call("lie")
        assert (outcome.status, getattr(outcome, "code", None)) in (
            ("refused", "definition_changed"),
            ("failed", "definition_changed"),
        )


async def test_line_162_a_forged_description_is_refused_whole(tmp_path: Path) -> None:
    texts = {
        forgery: importing.FORGES_A_DESCRIPTION.replace("FORGE", body, 1)
        for forgery, body in import_tricks.FORGERIES.items()
    }
    told = await _described(tmp_path, texts)
    assert {forgery: message for forgery, message in told.items() if not 0 < len(message) < 2_000} == {}


async def test_line_162_an_import_that_does_not_end_well_is_an_error_that_names_the_module(tmp_path: Path) -> None:
    texts = {ending: f"{body}\n{importing.INNOCENT}" for ending, body in import_tricks.ENDINGS.items()}
    told = await _described(tmp_path, texts)
    assert {ending: message for ending, message in told.items() if "`hostile_" not in message} == {}


async def test_line_162_a_forged_name_is_not_registered(tmp_path: Path) -> None:
    body = r"return [{**forger.document(), 'name': 'forger\nadmin'}]"
    with pytest.raises(RingfenceError):
        async with open_lair(tmp_path, {"forger": importing.FORGES_A_DESCRIPTION.replace("FORGE", body, 1)}):
            pass


async def _described(folder: Path, texts: Mapping[str, str]) -> dict[str, str]:
    """What the describer says of each module that it refuses; nothing of one that it does not."""
    snapshots = Snapshots(folder / "state")
    pool = Pool(snapshots)
    told: dict[str, str] = {}
    try:
        for number, (name, text) in enumerate(texts.items()):
            (folder / f"hostile_{number}.py").write_text(HEAD + text, encoding="utf-8")
            try:
                await Describer(pool, snapshots=snapshots).describe(f"hostile_{number}", path=[folder])
                told[name] = ""
            except RingfenceError as refused:
                told[name] = refused.message
    finally:
        await pool.close()
    return told


async def test_line_162_tricks_of_an_import_cost_nobody_else_anything(tmp_path: Path) -> None:
    tricks = {f"trick_{number}": body for number, body in enumerate(import_tricks.IN_VAIN.values())}
    modules = {name: f"{body}\n{_saying('served', named=name)}" for name, body in tricks.items()}
    async with open_lair(tmp_path, {**modules, "innocent": importing.INNOCENT}) as lair:
        assert [await lair.said(name) for name in modules] == ["served"] * len(modules)
        assert len(await lair.said("innocent")) == 16


async def test_line_162_an_import_that_answers_for_itself_serves_no_call(tmp_path: Path) -> None:
    """Where its answer and the true one are read together, it is not even described."""
    forged = "import os\nos.write(3, b'RF' + bytes([1, 7]) + (2).to_bytes(4, 'big') + b'{}')"
    modules = {"forward": forged + _saying("served"), "innocent": importing.INNOCENT}
    refused: str | None = None
    try:
        async with open_lair(tmp_path, modules) as lair:
            refused = getattr(await lair.call("say"), "code", None)
            assert len(await lair.said("innocent")) == 16
    except DeclarationRefused as at_once:
        refused = at_once.code
    assert refused in ("definition_changed", "protocol_error", DeclarationRefused.code)


async def test_line_162_an_import_that_never_ends_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jail, "_BUILD_SECONDS", 1.0)
    with pytest.raises(RingfenceError, match="endless"):
        async with open_lair(tmp_path, {"endless": "import signal\nsignal.pause()" + importing.INNOCENT}):
            pass


async def test_line_163_no_agent_can_take_the_name_under_which_modules_are_described(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid):
        load_config(settings(tmp_path, modules=[], agents=[describe.AGENT]))


@pytest.mark.req("SBX-2")
async def test_line_163_two_agents_with_equal_policy_and_the_same_tool_never_share_a_zygote(tmp_path: Path) -> None:
    async with open_lair(tmp_path, {"innocent": importing.INNOCENT}, agents=("ana", "ben")) as lair:
        by_ana, by_ben = await asyncio.gather(lair.call("linger", by="ana"), lair.call("linger", by="ben"))
        assert isinstance(by_ana, Completed)
        assert isinstance(by_ben, Completed)
        assert by_ana.output != by_ben.output
        assert await lair.said("innocent", by="ana") == by_ana.output
        seen = [await lair.seen(outcome) for outcome in (by_ana, by_ben)]
    assert seen[0]["blueprint"] == seen[1]["blueprint"]
    assert len({one["process"]["parent"] for one in seen}) == 2
    if os.geteuid() == 0:
        assert len({one["process"]["uid"] for one in seen}) == 2
        spaces = [set(one["process"]["namespaces"].items()) for one in seen]
        assert spaces[0] & spaces[1] == set()


async def test_line_167_a_source_that_changes_after_it_was_described_runs_as_it_was_described(tmp_path: Path) -> None:
    async with open_lair(tmp_path, {"stable": _saying("first")}, agents=("ana", "ben")) as lair:
        assert await lair.said("say", by="ana") == "first"
        (lair.tools / "stable.py").write_text(HEAD + _saying("planted"), encoding="utf-8")
        assert await lair.said("say", by="ben") == "first"
        (lair.tools / "stable.py").unlink()
        assert await lair.said("say", by="ana") == "first"


async def test_line_167_a_kept_source_that_was_altered_runs_no_more(tmp_path: Path) -> None:
    async with open_lair(tmp_path, {"stable": _saying("first")}, agents=("ana", "ben")) as lair:
        assert await lair.said("say", by="ana") == "first"
        (kept,) = (tmp_path / "state" / "sources").glob("*/files/stable.py")
        kept.chmod(0o644)
        kept.write_text(HEAD + _saying("planted"), encoding="utf-8")
        outcome = await lair.call("say", by="ben")
        assert outcome.status in ("refused", "failed")
        assert "planted" not in str(outcome.as_dict())


@pytest.mark.parametrize("mode", list(py_compile.PycInvalidationMode))
async def test_line_167_a_planted_pyc_is_never_run(mode: py_compile.PycInvalidationMode, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    source, evil = tools / "stable.py", tmp_path / "evil.py"
    honest, planted = HEAD + _saying("first"), HEAD + _saying("evil!")
    source.write_text(honest, encoding="utf-8")
    evil.write_text(planted, encoding="utf-8")
    os.utime(source, (1, 1))
    os.utime(evil, (1, 1))
    cached = importlib.util.cache_from_source(str(source))
    py_compile.compile(str(evil), cfile=cached, invalidation_mode=mode)
    py_compile.compile(str(evil), cfile=str(tools / "stable.pyc"), invalidation_mode=mode)
    async with open_lair(tmp_path, {"stable": _saying("first")}) as lair:
        os.utime(source, (1, 1))
        assert await lair.said("say") == "first"


async def test_line_167_nothing_of_the_project_but_the_module_is_in_the_jail(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    (tools / "pack").mkdir(parents=True)
    for name in (".env", "notes.txt", "other.py", "pack/.env", "pack/.git"):
        (tools / name).write_text("canary", encoding="utf-8")
    (tools / "pack" / "__init__.py").write_text("", encoding="utf-8")
    async with open_lair(tmp_path, {"pack/inner": importing.LOOKS_ROUND}) as lair:
        seen = await lair.said("look_round", places=[str(tmp_path), str(tools), str(tmp_path / "state"), os.getcwd()])
    assert seen == {"files": ["/tool/pack/__init__.py", "/tool/pack/inner.py"], "reached": [], "modules": []}


def _saying(word: str, *, named: str = "say") -> str:
    return f'''
@tool(safety="read")
def {named}() -> str:
    """Say one word."""
    return "{word}"
'''
