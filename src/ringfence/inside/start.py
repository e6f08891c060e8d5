"""Where a fork server's life begins: a fresh interpreter, an empty environment, one socket.

Takes: the socket's number on the command line, the import path as the first message.  Gives: nothing.
Never: imports ringfence before the path is set; this file is run by its name, outside the package.
"""

from __future__ import annotations

import json
import socket
import sys

_MOST_BYTES = 65_536


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    sys.dont_write_bytecode = True
    sys.path[:] = json.loads(control.recv(_MOST_BYTES))
    from ringfence.inside.forkserver import serve  # noqa: PLC0415  the path above decides what this finds

    serve(control)


if __name__ == "__main__":
    main()
