"""A TCP port that leads to a socket file, for programs that cannot open the file themselves."""

from __future__ import annotations

import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def port_to(path: Path) -> Generator[int]:
    """The port, for as long as the block lasts."""
    listener = socket.create_server(("127.0.0.1", 0))
    accepting = threading.Thread(target=_accept, args=(listener, path), daemon=True)
    accepting.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        accepting.join()
        listener.close()


def _accept(listener: socket.socket, path: Path) -> None:
    with suppress(OSError):
        while True:
            made, _ = listener.accept()
            threading.Thread(target=_serve, args=(made, path), daemon=True).start()


def _serve(made: socket.socket, path: Path) -> None:
    with made, socket.socket(socket.AF_UNIX) as behind:
        behind.connect(str(path))
        back = threading.Thread(target=_carry, args=(behind, made), daemon=True)
        back.start()
        _carry(made, behind)
        back.join()


def _carry(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while content := source.recv(65536):
            sink.sendall(content)
        sink.shutdown(socket.SHUT_WR)
