"""The authority of one jail: bound to its hosts, short-lived leaves, and believed by an ordinary client."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.x509.verification import PolicyBuilder, Store, VerificationError

from ringfence.contract.capabilities import Network
from ringfence.edge.authority import Authority

pytestmark = pytest.mark.req("NET-5")

NETWORK = Network("api.example.com", "*.files.example.net", "10.0.0.5:443")


def _handshake(authority: Authority, *, leaf_of: str, asked: str, roots: str) -> ssl.SSLObject:
    """A whole handshake in memory between an ordinary client and the edge's side."""
    context = ssl.create_default_context(cadata=roots)
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = authority.server_side(leaf_of).wrap_bio(to_server, to_client, server_side=True)
    client = context.wrap_bio(to_client, to_server, server_hostname=asked)
    for _ in range(6):
        for side in (client, server):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
    client.getpeercert()
    return client


@pytest.mark.parametrize("host", ["api.example.com", "a.files.example.net"])
def test_a_client_that_trusts_the_authority_accepts_its_leaf(host: str) -> None:
    authority = Authority(NETWORK)
    client = _handshake(authority, leaf_of=host, asked=host, roots=authority.pem)
    assert client.selected_alpn_protocol() in (None, "http/1.1")


def test_a_client_accepts_a_leaf_for_a_listed_address() -> None:
    authority = Authority(Network("10.0.0.5:443"))
    leaf = authority.leaf("10.0.0.5", now=datetime.now(UTC))
    names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert [str(address) for address in names.get_values_for_type(x509.IPAddress)] == ["10.0.0.5"]


@pytest.mark.parametrize("host", ["evil.com", "example.com", "10.0.0.6"])
def test_a_leaf_for_a_host_outside_the_list_is_not_believed(host: str) -> None:
    authority = Authority(Network("api.example.com", "*.files.example.net"))
    leaf = authority.leaf(host, now=datetime.now(UTC))
    subject: x509.DNSName | x509.IPAddress = x509.DNSName(host)
    if host[0].isdigit():
        names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        subject = x509.IPAddress(names.get_values_for_type(x509.IPAddress)[0])
    verifier = PolicyBuilder().store(Store([authority.certificate])).build_server_verifier(subject)
    with pytest.raises(VerificationError):
        verifier.verify(leaf, [])


def test_another_jails_authority_is_not_believed() -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        _handshake(Authority(NETWORK), leaf_of="api.example.com", asked="api.example.com", roots=Authority(NETWORK).pem)


def test_a_leaf_lives_a_day_at_most_and_can_sign_nothing() -> None:
    leaf = Authority(NETWORK).leaf("api.example.com", now=datetime.now(UTC))
    assert leaf.not_valid_after_utc - leaf.not_valid_before_utc <= timedelta(hours=24)
    assert leaf.extensions.get_extension_for_class(x509.BasicConstraints).value.ca is False


def test_the_constraints_are_critical_and_name_the_listed_hosts() -> None:
    found = Authority(NETWORK).certificate.extensions.get_extension_for_class(x509.NameConstraints)
    permitted = [subtree.value for subtree in found.value.permitted_subtrees or ()]
    assert found.critical
    assert [str(value) for value in permitted] == ["api.example.com", "files.example.net", "10.0.0.5/32"]


def test_where_no_address_is_listed_all_are_excluded() -> None:
    found = Authority(Network("api.example.com")).certificate.extensions.get_extension_for_class(x509.NameConstraints)
    assert [str(subtree.value) for subtree in found.value.excluded_subtrees or ()] == ["0.0.0.0/0", "::/0"]


def test_a_client_that_asks_for_another_name_is_told_so() -> None:
    authority = Authority(NETWORK)
    with pytest.raises(ssl.SSLError):
        _handshake(authority, leaf_of="api.example.com", asked="a.files.example.net", roots=authority.pem)
    assert authority.names_refused == {"api.example.com": "`a.files.example.net`"}
