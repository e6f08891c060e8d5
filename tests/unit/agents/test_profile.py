"""Which declared needs do not fit an agent, as data."""

from __future__ import annotations

import pytest

from ringfence import FROM_AGENT, Files, Network, Processes, Secrets, Storage
from ringfence.agents.profile import CapabilityValidationError, Permits, misfits
from ringfence.contract.capabilities import Capability
from ringfence.errors import CallRefused
from ringfence.policy.grant import resolve_grant

pytestmark = pytest.mark.req("VIEW-4", "CON-14")

PERMITS = Permits(
    network=Network("*.a.example"),
    secrets=Secrets.permit("KEY"),
    files=Files(read=["books"], write=["out"]),
    processes=Processes("git"),
)
FITTING: list[Capability] = [
    Network("b.a.example"),
    Secrets("KEY", hosts=["b.a.example"]),
    Files(read=["books/one"]),
    Files(read=FROM_AGENT, write=FROM_AGENT),
    Processes("git"),
    Network(FROM_AGENT),
    Processes(FROM_AGENT),
    Storage("tool"),
    Storage("session"),
    Storage("agent"),
]
MISFITS: list[Capability] = [
    Network("b.a.example", "a.example"),
    Network(cidrs=["203.0.113.0/24"]),
    Secrets("KEY", "OTHER", hosts=["b.a.example"]),
    Files(read=["books", "keys"]),
    Files(write=["books"]),
    Processes("git", "sh"),
]


@pytest.mark.parametrize("need", FITTING, ids=repr)
def test_a_need_within_the_permits_fits_and_is_granted(need: Capability) -> None:
    assert misfits("t", (need,), permits=PERMITS) == ()
    assert resolve_grant("t", (need,), permits=PERMITS).kinds == {need.kind}


@pytest.mark.parametrize("need", MISFITS, ids=repr)
def test_a_need_beyond_the_permits_is_a_record_with_tool_capability_and_message(need: Capability) -> None:
    (found,) = misfits("t", (need,), permits=PERMITS)
    assert isinstance(found, CapabilityValidationError)
    assert (found.tool, found.capability) == ("t", need.kind)
    assert found.message


@pytest.mark.parametrize("need", [need for need in FITTING if need.kind != "storage"], ids=repr)
def test_an_agent_without_permits_is_granted_nothing_that_can_be_listed(need: Capability) -> None:
    assert misfits("t", (need,), permits=Permits()) != ()
    with pytest.raises(CallRefused) as refusal:
        resolve_grant("t", (need,), permits=Permits())
    assert refusal.value.code == "not_available"


def test_reading_that_is_left_does_not_make_up_for_writing_that_is_gone() -> None:
    need = Files(read=["books"], write=["elsewhere"])
    with pytest.raises(CallRefused):
        resolve_grant("t", (need,), permits=PERMITS)
    gone = Files(read=FROM_AGENT, write=["out"])
    assert misfits("t", (gone,), permits=Permits(files=Files(write=["out"]))) != ()
