"""A binding narrows in every category and never widens in any."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.agents.accounts import NO_ACCOUNTS, Account, Accounts
from ringfence.agents.acting import acting_on, require_binding
from ringfence.agents.bindings import Binding
from ringfence.agents.profile import Agent, Permits
from ringfence.contract.capabilities import Files, Network, Processes, Secrets
from ringfence.errors import CallRefused, Misuse

pytestmark = pytest.mark.req("VIEW-3")

HOSTS = st.lists(st.sampled_from(["a.example", "*.b.example", "x.b.example", "a.example:8443"]), max_size=3)
NAMES = st.lists(st.sampled_from(["KEY_A", "KEY_B", "KEY_C"]), max_size=3, unique=True)
PATHS = st.lists(st.sampled_from([".", "in", "in/deep", "out"]), max_size=3)
BINARIES = st.lists(st.sampled_from(["git", "curl"]), max_size=2, unique=True)


def permitted(hosts: list[str], names: list[str], read: list[str], write: list[str], binaries: list[str]) -> Permits:
    return Permits(
        network=Network(*hosts),
        secrets=Secrets.permit(*names),
        files=Files(read=read, write=write),
        processes=Processes(*binaries),
    )


def narrowing(
    hosts: list[str] | None, names: list[str] | None, paths: list[str] | None, binaries: list[str] | None
) -> Binding:
    return Binding(
        channel="chat",
        instance="one",
        network=None if hosts is None else Network(*hosts),
        secrets=None if names is None else Secrets.permit(*names),
        files=None if paths is None else Files(read=paths, write=paths),
        processes=None if binaries is None else Processes(*binaries),
    )


PERMITS = st.builds(permitted, HOSTS, NAMES, PATHS, PATHS, BINARIES)
BINDINGS = st.builds(narrowing, st.none() | HOSTS, st.none() | NAMES, st.none() | PATHS, st.none() | BINARIES)


def agent(permits: Permits, *bindings: Binding) -> Agent:
    return Agent(name="ana", owner=None, allowed_tools=(), permits=permits, workspace="w", bindings=bindings)


def account(name: str = "chat:one", *, agents: tuple[str, ...] = ("ana",), credential: str | None = None) -> Account:
    channel, instance = name.split(":")
    return Account(channel=channel, instance=instance, agents=frozenset(agents), credential=credential)


def held(*accounts: Account) -> Accounts:
    return Accounts(by_name={each.name: each for each in accounts})


@pytest.mark.req("CON-14")
@given(permits=PERMITS, binding=BINDINGS)
def test_no_category_is_wider_on_a_binding(permits: Permits, binding: Binding) -> None:
    narrowed = acting_on(agent(permits, binding), binding="chat:one", accounts=held(account())).permits
    assert permits.network.covers(narrowed.network)
    assert permits.secrets.covers(narrowed.secrets)
    assert permits.files.covers(narrowed.files)
    assert permits.processes.covers(narrowed.processes)
    if binding.network is not None:
        assert binding.network.covers(narrowed.network)
    if binding.secrets is not None:
        assert binding.secrets.covers(narrowed.secrets)
    if binding.files is not None:
        assert binding.files.covers(narrowed.files)
    if binding.processes is not None:
        assert binding.processes.covers(narrowed.processes)


def test_what_a_binding_leaves_out_stays_as_the_agent_has_it() -> None:
    permits = Permits(network=Network("a.example"), secrets=Secrets.permit("KEY_A"))
    acting = acting_on(
        agent(permits, Binding(channel="chat", instance="one")), binding="chat:one", accounts=held(account())
    )
    assert acting.permits == permits
    assert acting.sees("anything")


def test_what_a_binding_writes_down_empty_is_nothing() -> None:
    binding = Binding(channel="chat", instance="one", network=Network(), secrets=Secrets.permit())
    permits = Permits(network=Network("a.example"), secrets=Secrets.permit("KEY_A"))
    acting = acting_on(agent(permits, binding), binding="chat:one", accounts=held(account()))
    assert acting.permits.network.is_empty
    assert acting.permits.secrets.is_empty


@pytest.mark.req("VIEW-7")
def test_the_credential_of_another_account_is_out_of_reach_on_this_one() -> None:
    places = [Binding(channel="chat", instance=name) for name in ("one", "two")]
    permits = Permits(secrets=Secrets.permit("KEY_A", "KEY_B", "KEY_C"))
    both = held(account("chat:one", credential="KEY_A"), account("chat:two", credential="KEY_B"))
    here = acting_on(agent(permits, *places), binding="chat:one", accounts=both)
    there = acting_on(agent(permits, *places), binding="chat:two", accounts=both)
    assert here.permits.secrets.names == ("KEY_A", "KEY_C")
    assert there.permits.secrets.names == ("KEY_B", "KEY_C")
    assert (here.account_name, there.account_name) == ("chat:one", "chat:two")


@pytest.mark.req("VIEW-7")
@pytest.mark.parametrize("accounts", [NO_ACCOUNTS, held(account(agents=("ben",))), held(account("chat:two"))])
def test_without_an_account_that_lets_the_agent_in_there_is_nothing_to_act_with(accounts: Accounts) -> None:
    with pytest.raises(CallRefused, match="no account `chat:one` allows"):
        acting_on(agent(Permits(), Binding(channel="chat", instance="one")), binding="chat:one", accounts=accounts)


def test_an_agent_with_bindings_needs_one() -> None:
    bound = agent(Permits(), Binding(channel="chat", instance="one"))
    require_binding(bound, "chat:one")
    with pytest.raises(CallRefused) as refused:
        require_binding(bound, None)
    assert (refused.value.code, refused.value.remedy) == ("binding_required", "name one of `chat:one`")


@pytest.mark.parametrize("name", ["chat:two", "chat", "CHAT:ONE", "chat:one ", "", "*", "chat:*"])
def test_a_binding_that_is_not_the_agents_is_misuse(name: str) -> None:
    with pytest.raises(Misuse, match="has no binding"):
        require_binding(agent(Permits(), Binding(channel="chat", instance="one")), name)


def test_an_agent_without_bindings_has_none_to_name() -> None:
    require_binding(agent(Permits()), None)
    with pytest.raises(Misuse, match="has no binding"):
        require_binding(agent(Permits()), "chat:one")
