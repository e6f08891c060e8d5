"""A small world for the edge: names, addresses, servers that write down what they hear, and an authority of its own.

Nothing here leaves the machine: a public address is a key in a table, behind which a server on loopback stands.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from ringfence.edge.outside import Outside
from ringfence.edge.resolve import Closed

API, API_ADDRESS = "api.example.com", "93.184.216.34"
OTHER, OTHER_ADDRESS = "other.example.net", "93.184.216.99"

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass(kw_only=True)
class Far:
    """One server of the world, and its own log."""

    port: int
    heard: bytearray = field(default_factory=bytearray)
    connections: int = 0
    requests: list[str] = field(default_factory=list[str])


@dataclass(kw_only=True)
class World:
    """Names, the servers behind addresses, and what the edge asked and dialled."""

    folder: Path
    names: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    servers: dict[tuple[str, int], Far] = field(default_factory=dict[tuple[str, int], Far])
    asked: list[str] = field(default_factory=list[str])
    dialled: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])

    async def lookup(self, name: str) -> Sequence[str]:
        self.asked.append(name)
        if name not in self.names:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        return list(self.names[name])

    async def dial(self, addresses: Sequence[str], port: int) -> socket.socket:
        for address in addresses:
            self.dialled.append((address, port))
            far = self.servers.get((address, port))
            if far is not None:
                made = socket.socket()
                made.setblocking(False)
                try:
                    await asyncio.get_running_loop().sock_connect(made, ("127.0.0.1", far.port))
                except BaseException:
                    made.close()
                    raise
                return made
        raise Closed(f"nothing is at {list(addresses)} port {port}", code="tool_error")

    def outside(self) -> Outside:
        return Outside(lookup=self.lookup, dial=self.dial)

    @asynccontextmanager
    async def server(
        self, serve: Callable[[Far], Serve], *, at: Sequence[tuple[str, int]], tls: ssl.SSLContext | None = None
    ) -> AsyncGenerator[Far, None]:
        """A server on loopback that stands for these addresses."""
        far = Far(port=0)

        async def counted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            far.connections += 1
            try:
                await serve(far)(reader, writer)
            except (ConnectionError, asyncio.IncompleteReadError):
                pass
            finally:
                writer.close()

        made = await asyncio.start_server(counted, "127.0.0.1", 0, ssl=tls)
        far.port = made.sockets[0].getsockname()[1]
        for place in at:
            self.servers[place] = far
        try:
            yield far
        finally:
            made.close()


class TestAuthority:
    """Signs the certificates of the world's servers."""

    __test__ = False

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "world")])
        certificate = self._signed(self._name, self._key, ca=True, names=())
        self.roots = folder / "roots.pem"
        self.roots.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def server_side(self, *names: str, expired: bool = False) -> ssl.SSLContext:
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self._signed(x509.Name([]), key, ca=False, names=names, expired=expired)
        file = self._folder / f"{len(os.listdir(self._folder))}.pem"
        file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context

    def _signed(
        self,
        subject: x509.Name,
        key: ec.EllipticCurvePrivateKey,
        *,
        ca: bool,
        names: Sequence[str],
        expired: bool = False,
    ) -> x509.Certificate:
        now = datetime.now(UTC) - (timedelta(days=9) if expired else timedelta())
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=2))
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        )
        if names:
            builder = builder.add_extension(
                x509.SubjectAlternativeName([_named(name) for name in names]), critical=False
            )
        return builder.sign(self._key, hashes.SHA256())


def _named(host: str) -> x509.GeneralName:
    return x509.IPAddress(ip_address(host)) if host.replace(".", "").isdigit() else x509.DNSName(host)


def http_server(body: bytes = b"hello", *, headers: bytes = b"", status: bytes = b"200 OK") -> Callable[[Far], Serve]:
    """An HTTP/1.1 server that writes down every request and answers each alike."""

    def of(far: Far) -> Serve:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                far.heard += head
                far.requests.append(head.split(b"\r\n")[0].decode())
                length = next(
                    (int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0
                )
                far.heard += await reader.readexactly(length)
                if b"transfer-encoding: chunked" in head.lower():
                    far.heard += await reader.readuntil(b"0\r\n\r\n")
                answer = b"" if head.startswith(b"HEAD") else body
                writer.write(b"HTTP/1.1 %s\r\nContent-Length: %d\r\n%s\r\n%s" % (status, len(body), headers, answer))
                await writer.drain()

        return serve

    return of


def hearing_server(*, greeting: bytes = b"", answers: Sequence[bytes] = ()) -> Callable[[Far], Serve]:
    """A server that may speak first, writes down what it hears, and answers each piece in turn."""

    def of(far: Far) -> Serve:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(greeting)
            left = list(answers)
            while content := await reader.read(65536):
                far.heard += content
                writer.write(left.pop(0) if left else b"")
                await writer.drain()

        return serve

    return of
