"""Whatever a runtime can be asked, its blocking twin can be asked too, with the same parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ringfence.assembly import open_runtime
from ringfence.errors import Misuse
from ringfence.runtime import Refused, Runtime, blocking
from ringfence.runtime.approvals import Approvals
from ringfence.runtime.audit import Audit
from ringfence.runtime.blocking import (
    BlockingApprovals,
    BlockingAudit,
    BlockingCalls,
    BlockingGrants,
    BlockingPins,
    BlockingRuntime,
    BlockingSession,
    BlockingStopButton,
)
from ringfence.runtime.calls import Calls
from ringfence.runtime.freezes import StopButton
from ringfence.runtime.grants import StandingGrants
from ringfence.runtime.pins import PinDesk
from ringfence.runtime.session import Session
from ringfence.runtime.twin import Twin
from tests.acceptance.spine import toolbox
from tests.acceptance.spine.household import config, open_house, scripted

pytestmark = pytest.mark.req("SBX-10")

TWINS: dict[type[Any], type[Twin[Any]]] = {
    Runtime: BlockingRuntime,
    Session: BlockingSession,
    Approvals: BlockingApprovals,
    Audit: BlockingAudit,
    StandingGrants: BlockingGrants,
    StopButton: BlockingStopButton,
    PinDesk: BlockingPins,
    Calls: BlockingCalls,
}
ITS_OWN = {"loop"}
ADDED = {"close"}


def public(owner: type[Any] | object) -> set[str]:
    return {name for name in vars(owner) if not name.startswith("_")}


def parameters(function: Callable[..., Any]) -> list[tuple[str, Any, Any]]:
    return [(each.name, each.kind, each.default) for each in inspect.signature(function).parameters.values()]


@pytest.mark.parametrize("original", TWINS, ids=lambda each: each.__name__)
def test_a_twin_has_every_name_of_its_original_and_no_other(original: type[Any]) -> None:
    assert public(TWINS[original]) - ADDED == public(original)


@pytest.mark.parametrize("original", TWINS, ids=lambda each: each.__name__)
def test_a_twin_takes_the_same_parameters_and_gives_nothing_to_await(original: type[Any]) -> None:
    for name in public(original):
        mine, theirs = vars(TWINS[original])[name], vars(original)[name]
        assert type(mine) is type(theirs), name
        if not isinstance(mine, property):
            assert parameters(mine) == parameters(theirs), name
            assert not inspect.iscoroutinefunction(mine), name


async def test_every_handle_on_an_open_runtime_has_its_twin(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        twin = blocking(house.runtime)
        held: dict[str, Any] = vars(house.runtime)
        handles = {name: TWINS.get(held[name].__class__) for name in public(house.runtime) - ITS_OWN}
        assert [name for name, kind in handles.items() if kind is None] == [], "give it a twin, and name it in `TWINS`"
        assert {name: vars(twin)[name].__class__ for name in public(twin)} == handles
        with pytest.raises(Misuse, match="own event loop"):
            twin.pins.list()


def test_pins_bundle_replay_and_the_trail_are_read_without_a_loop(tmp_path: Path) -> None:
    settings = config(tmp_path)
    settings["audit"]["retention"] = "30d"
    opening = open_runtime(settings, tools=toolbox.ALL, dangerously_sandbox=scripted())
    with blocking(opening) as runtime:
        session = runtime.session(agent="ana", user="ulla")
        assert (session.agent, runtime.agents) == ("ana", ("ana",))
        done = session.call("echo", {"text": "x"})
        assert {each.pin.tool for each in runtime.pins.list()} == {tool.name for tool in runtime.tools}
        assert runtime.pins.accept(runtime.pins.diff(), by="bob") == ()
        lines: list[bytes] = []
        assert runtime.audit.bundle(lines.append) == sum(line.count(b"\n") for line in lines)
        assert [call.invocation_id for call in runtime.audit.replay(session.id)] == [done.invocation_id]
        kept = runtime.recorded(done.invocation_id)
        assert kept is not None
        assert kept.invocation.tool == "echo"
        whole = list(runtime.audit.export())
        assert runtime.audit.last(3) == whole[-3:]
        assert (runtime.audit.removable(), runtime.audit.remove_bodies(by="bob").bodies) == (0, 0)


def test_following_the_trail_gives_what_is_kept_and_ends_with_the_caller(tmp_path: Path) -> None:
    opening = open_runtime(config(tmp_path), tools=toolbox.ALL, dangerously_sandbox=scripted())
    with blocking(opening) as runtime:
        followed = runtime.audit.follow(last=1)
        before = next(followed)
        assert before == runtime.audit.last(1)[0]
        runtime.freezes.freeze(by="bob", because="an incident")
        frozen = next(followed)
        assert (frozen["kind"], frozen["body"]["because"]) == ("frozen", "an incident")
        followed.close()
        refused = runtime.session(agent="ana").call("echo", {"text": "x"})
        assert isinstance(refused, Refused)
        assert refused.code == "frozen"
