"""A server that counts what reaches it and takes no notice of any key: the world, as it mostly is."""

from __future__ import annotations

import socketserver
import threading
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager


class FarSide:
    """One real socket, and how often each word came."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.seen: Counter[str] = Counter()


@contextmanager
def far_side() -> Generator[FarSide, None, None]:
    counted: list[FarSide] = []

    class Line(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            word = self.rfile.readline().decode().strip()
            counted[0].seen[word] += 1
            self.wfile.write(b"done\n")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Line) as server:
        server.daemon_threads = True
        counted.append(FarSide(server.server_address[1]))
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield counted[0]
        server.shutdown()
        thread.join()
