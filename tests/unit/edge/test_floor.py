"""The floor: what stays closed, in which spelling, and what an operator can open by its exact address and port."""

from __future__ import annotations

import pytest

from ringfence.contract.capabilities import Network
from ringfence.edge.floor import RANGES, closed
from ringfence.errors import DeclarationRefused

pytestmark = pytest.mark.req("NET-4")

NEVER = [
    "169.254.169.254", "169.254.170.2", "::ffff:169.254.169.254", "fe80::1", "fd00:ec2::254", "100.100.100.200",
    "192.0.0.192", "168.63.129.16", "0.0.0.0", "::", "255.255.255.255", "224.0.0.1", "ff02::1", "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::", "2001::1", "198.18.0.5", "240.0.0.1",
]  # fmt: skip
LISTED = [
    "127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "10.1.2.3", "172.16.0.1", "172.31.255.255",
    "192.168.1.1", "100.64.0.1", "fc00::1", "fd12:3456::1", "fec0::1", "192.0.2.1", "203.0.113.9", "2001:db8::1",
]  # fmt: skip
UNREADABLE = [
    "2130706433",
    "0177.0.0.1",
    "0x7f.1",
    "127.1",
    "127.0.0.1.",
    "fe80::1%eth0",
    "",
    "localhost",
    "１２７.0.0.1",
]


@pytest.mark.parametrize("address", NEVER)
def test_what_never_opens_stays_closed_even_where_its_address_and_port_are_listed(address: str) -> None:
    spelled = f"[{address}]:443" if ":" in address and "." not in address else f"{address.rpartition(':')[2]}:443"
    assert closed(address, port=443, private=Network.permit(private=(spelled,)).private) is not None


@pytest.mark.parametrize("address", LISTED)
def test_a_private_address_is_closed(address: str) -> None:
    assert closed(address, port=443) is not None


def test_a_private_address_opens_at_the_very_port_that_is_listed_with_it() -> None:
    private = Network.permit(private=("10.0.0.5:5432", "[fd00::5]:5432")).private
    outcomes = {
        (address, port): closed(address, port=port, private=private) is None
        for address in ("10.0.0.5", "10.0.0.6", "::ffff:10.0.0.5", "fd00::5", "fd00:0:0::5")
        for port in (5432, 5433)
    }
    assert [key for key, is_open in outcomes.items() if is_open] == [
        ("10.0.0.5", 5432),
        ("::ffff:10.0.0.5", 5432),
        ("fd00::5", 5432),
        ("fd00:0:0::5", 5432),
    ]


@pytest.mark.parametrize("text", UNREADABLE)
def test_what_is_not_an_address_in_its_plain_spelling_is_closed(text: str) -> None:
    assert closed(text, port=443) == "not an address"


@pytest.mark.parametrize("address", ["93.184.216.34", "1.1.1.1", "2606:4700::1111", "::ffff:1.1.1.1"])
def test_a_public_address_is_open(address: str) -> None:
    assert closed(address, port=443) is None


@pytest.mark.parametrize("address", ["::2", "4000::1", "100::1", "::7f00:1", "::ffff:0:7f00:1"])
def test_what_no_registry_gave_out_is_closed(address: str) -> None:
    assert closed(address, port=443) is not None


def test_every_row_has_a_reason() -> None:
    assert [row.network for row in RANGES if len(row.reason) < 8] == []


@pytest.mark.parametrize("text", ["10.0.0.5", "10.0.0.0/8:80", "db.internal:5432", "*.internal:80", "[fd00::5]"])
def test_private_lists_one_exact_address_and_port_and_nothing_wider(text: str) -> None:
    with pytest.raises(DeclarationRefused):
        Network.permit(private=(text,))
