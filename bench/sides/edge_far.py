"""The far side of every connection: it sends as many bytes as it is asked for, plain and under TLS.

Takes: a folder.  Gives: two ports on standard output, and in the folder the certificate to trust.
Never: ends before its standard input does.
"""

from __future__ import annotations

import socket
import ssl
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

HOST = "far.example.com"
_BLOCK = bytes(1 << 18)


def main() -> None:
    folder = Path(sys.argv[1])
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(_certificate(folder))
    ports = [_listen(None), _listen(tls)]
    sys.stdout.write(" ".join(map(str, ports)) + "\n")
    sys.stdout.flush()
    sys.stdin.read()


def _listen(tls: ssl.SSLContext | None) -> int:
    listener = socket.create_server(("127.0.0.1", 0), backlog=256)
    threading.Thread(target=_accept, args=(listener, tls), daemon=True).start()
    return int(listener.getsockname()[1])


def _accept(listener: socket.socket, tls: ssl.SSLContext | None) -> None:
    while True:
        made, _ = listener.accept()
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=_serve, args=(made, tls), daemon=True).start()


def _serve(made: socket.socket, tls: ssl.SSLContext | None) -> None:
    with tls.wrap_socket(made, server_side=True) if tls else made as stream:
        count = int(stream.recv(65_536).split()[1][1:])
        stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % count)
        for at in range(0, count, len(_BLOCK)):
            stream.sendall(_BLOCK[: min(len(_BLOCK), count - at)])


def _certificate(folder: Path) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, HOST)])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime.now(UTC) - timedelta(hours=1))
        .not_valid_after(datetime.now(UTC) + timedelta(hours=8))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = made.public_bytes(serialization.Encoding.PEM)
    (folder / "roots.pem").write_bytes(pem)
    both = folder / "both.pem"
    both.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + pem
    )
    return both


if __name__ == "__main__":
    main()
