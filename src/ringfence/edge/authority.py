"""The certificate authority of one jail: bound to the jail's hosts, its key known to the edge alone.

Takes: the hosts that a jail may reach.  Gives: a certificate to trust, and for each host a server's side of TLS.
Never: vouches for a host outside its list, for longer than a day, or lets its key leave this process.
"""

from __future__ import annotations

import os
import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from ringfence.contract.capabilities import Network
from ringfence.edge.floor import read_address
from ringfence.edge.hello import is_name_of, shown_name

LEAF_LIFETIME = timedelta(hours=24)
_AUTHORITY_LIFETIME = timedelta(days=30)
_RENEWED_BEFORE = timedelta(hours=1)
_CLOCKS_DIFFER = timedelta(minutes=5)
_EVERY_ADDRESS = (ip_network("0.0.0.0/0"), ip_network("::/0"))


class Authority:
    """Signs for the hosts of one jail."""

    def __init__(self, network: Network, *, now: datetime | None = None) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._leaf_key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Ringfence edge, one jail")])
        self.certificate = self._own_certificate(network, now=now or datetime.now(UTC))
        self._leaves: dict[str, tuple[ssl.SSLContext, datetime]] = {}
        self.names_refused: dict[str, str] = {}

    @property
    def pem(self) -> str:
        return self.certificate.public_bytes(serialization.Encoding.PEM).decode()

    def server_side(self, host: str) -> ssl.SSLContext:
        """TLS as that host, for at most a day."""
        found = self._leaves.get(host)
        now = datetime.now(UTC)
        if found is None or found[1] - now < _RENEWED_BEFORE:
            leaf = self.leaf(host, now=now)
            found = self._leaves[host] = (self._context(leaf, host=host), leaf.not_valid_after_utc)
        return found[0]

    def leaf(self, host: str, *, now: datetime) -> x509.Certificate:
        """A certificate for one host."""
        address = read_address(host)
        name = x509.IPAddress(ip_address(host)) if address is not None else x509.DNSName(host)
        return (
            self._builder(x509.Name([]), self._leaf_key, now=now, lifetime=LEAF_LIFETIME - _CLOCKS_DIFFER)
            .add_extension(x509.SubjectAlternativeName([name]), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage("leaf"), critical=True)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )

    def _own_certificate(self, network: Network, *, now: datetime) -> x509.Certificate:
        return (
            self._builder(self._name, self._key, now=now, lifetime=_AUTHORITY_LIFETIME)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_constraints(network), critical=True)
            .add_extension(_usage("authority"), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )

    def _builder(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, *, now: datetime, lifetime: timedelta
    ) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - _CLOCKS_DIFFER)
            .not_valid_after(now + lifetime)
        )

    def _context(self, leaf: x509.Certificate, *, host: str) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        key = self._leaf_key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        _load(context, key + leaf.public_bytes(serialization.Encoding.PEM))

        def named(_tls: ssl.SSLObject, name: str | None, _context: ssl.SSLContext) -> int | None:
            if is_name_of(name, host=host):
                return None
            self.names_refused[host] = shown_name(name)
            return ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME

        context.sni_callback = named
        return context


def _load(context: ssl.SSLContext, pem: bytes) -> None:
    # The library reads keys from files alone; this one has no name and is in memory.
    descriptor = os.memfd_create("leaf", os.MFD_CLOEXEC)
    try:
        os.write(descriptor, pem)
        context.load_cert_chain(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)


def _constraints(network: Network) -> x509.NameConstraints:
    names: list[Any] = []
    addresses: list[IPv4Network | IPv6Network] = list(network.cidrs)
    for pattern in network.hosts:
        if read_address(pattern.host) is not None:
            addresses.append(ip_network(pattern.host))
        else:
            names.append(x509.DNSName(pattern.host))
    permitted = [*names, *map(x509.IPAddress, addresses)]
    # A kind of name that is not mentioned would be free: where no address is listed, all are excluded.
    excluded: list[Any] = [] if addresses else list(map(x509.IPAddress, _EVERY_ADDRESS))
    if not names:
        excluded.append(x509.DNSName(""))
    return x509.NameConstraints(permitted_subtrees=permitted, excluded_subtrees=excluded or None)


def _usage(of: str) -> x509.KeyUsage:
    signs = of == "authority"
    return x509.KeyUsage(
        digital_signature=not signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=signs,
        encipher_only=False,
        decipher_only=False,
    )
