"""Resolving: once, all addresses checked, and the checked ones are those that are dialled."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ringfence.contract.capabilities import Network
from ringfence.contract.safety import Egress
from ringfence.edge.names import Names
from ringfence.edge.resolve import Closed, Resolver
from ringfence.edge.terms import Destination, Terms, destination

PUBLIC, OTHER = "93.184.216.34", "93.184.216.35"


class Zone:
    """A resolver that answers from a script, and remembers what it was asked."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, name: str) -> Sequence[str]:
        self.asked.append(name)
        return self.answers.pop(0)


@pytest.mark.req("NET-4")
async def test_a_name_that_changes_its_address_is_asked_once_and_dialled_where_it_was_checked() -> None:
    zone = Zone([PUBLIC], ["127.0.0.1"])
    resolver = Resolver(zone, private=())
    first = await resolver.addresses("api.example.com", port=443)
    second = await resolver.addresses("api.example.com", port=443)
    assert (first, second, zone.asked) == ([PUBLIC], [PUBLIC], ["api.example.com"])


@pytest.mark.req("NET-4")
@pytest.mark.parametrize(
    "address",
    ["10.0.0.1", "127.0.0.1", "169.254.169.254", "fd00::1", "64:ff9b::a00:1", "2002:a00:1::", "::ffff:10.0.0.1"],
)
async def test_one_closed_address_closes_the_name(address: str) -> None:
    resolver = Resolver(Zone([PUBLIC, address, OTHER]), private=())
    with pytest.raises(Closed):
        await resolver.addresses("api.example.com", port=443)


@pytest.mark.req("NET-4")
async def test_a_name_at_a_private_address_opens_where_that_address_and_port_are_listed() -> None:
    resolver = Resolver(Zone(["10.0.0.5"]), private=Network.permit(private=("10.0.0.5:5432",)).private)
    assert await resolver.addresses("db.internal", port=5432) == ["10.0.0.5"]
    with pytest.raises(Closed):
        await resolver.addresses("db.internal", port=5433)


@pytest.mark.req("NET-1")
async def test_a_name_without_addresses_is_closed() -> None:
    resolver = Resolver(Zone([]), private=())
    with pytest.raises(Closed):
        await resolver.addresses("api.example.com", port=443)


def _terms(network: Network) -> Terms:
    return Terms(network=network, egress=Egress.WRITE, way="opaque", idempotency_key="k")


@pytest.mark.req("NET-1")
def test_a_synthetic_address_leads_to_its_name_at_the_listed_port_alone() -> None:
    network = Network("api.example.com:8443", "other.example.com")
    names = Names(network.hosts)
    address = names.ask("api.example.com").address
    assert address is not None
    assert destination(address, port=8443, terms=_terms(network), names=names) == Destination(
        host="api.example.com", port=8443, named=True
    )
    with pytest.raises(Closed):
        destination(address, port=443, terms=_terms(network), names=names)


@pytest.mark.req("NET-1")
@pytest.mark.parametrize("address", [PUBLIC, "127.0.0.1", "::1", "::ffff:127.0.0.1", "198.18.0.9", "0.0.0.0"])
def test_an_address_that_nobody_listed_leads_nowhere(address: str) -> None:
    network = Network("api.example.com")
    with pytest.raises(Closed):
        destination(address, port=443, terms=_terms(network), names=Names(network.hosts))


@pytest.mark.req("NET-1")
def test_a_listed_address_and_a_listed_network_are_reached_by_address() -> None:
    network = Network("93.184.216.34:5432", cidrs=("93.184.216.0/24",))
    reached: list[str] = []
    for address, port in (
        (PUBLIC, 5432),
        (OTHER, 443),
        ("::ffff:93.184.216.35", 80),
        (OTHER, 5432),
        ("93.184.217.1", 443),
    ):
        try:
            reached.append(str(destination(address, port=port, terms=_terms(network), names=Names(network.hosts))))
        except Closed:
            reached.append("closed")
    assert reached == ["93.184.216.34:5432", "93.184.216.35:443", "93.184.216.35:80", "closed", "closed"]


@pytest.mark.req("NET-4")
def test_a_binding_keeps_a_private_address_only_if_it_lists_it_too() -> None:
    agent = Network.permit("db.internal:5432", private=("10.0.0.5:5432", "10.0.0.6:5432"))
    left = agent.narrowed_by(Network.permit("db.internal:5432", private=("10.0.0.5:5432", "10.0.0.7:5432")))
    assert [str(address) for address in left.private] == ["10.0.0.5:5432"]


@pytest.mark.req("NET-4")
def test_a_tool_cannot_declare_a_private_address_for_itself() -> None:
    need = Network.permit("10.0.0.5:5432", private=("10.0.0.5:5432",))
    assert need.intersect(Network.permit("10.0.0.5:5432")).private == ()
