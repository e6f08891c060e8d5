"""Runs one function of `clients.py` in a network of its own, as a program in a jail would: its libraries unpatched.

Started by `yard.py` with a socket; it hands out the ways, waits for the word, runs, and prints one line of JSON.
"""

from __future__ import annotations

import importlib
import json
import os
import socket
import sys
from typing import Any

from ringfence.inside.ways import open_ways
from ringfence.kernel import mounts
from ringfence.kernel.namespaces import NEW_MOUNTS, NEW_NETWORK
from ringfence.kernel.syscalls import call

_BIND = 0x1000


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    order: dict[str, Any] = json.loads(sys.argv[2])
    files: dict[str, str] = order["files"]
    call("unshare", NEW_NETWORK | NEW_MOUNTS)
    mounts.make_private()
    for path, text in files.items():
        place = os.path.join(str(order["folder"]), os.path.basename(path))
        with open(place, "w", encoding="utf-8") as file:
            file.write(text)
        call("mount", place.encode(), path.encode(), None, _BIND, None)
    ways = open_ways(order["ports"])
    socket.send_fds(control, [b"w"], ways)
    for descriptor in ways:
        os.close(descriptor)
    control.recv(1)
    function = getattr(importlib.import_module("clients"), order["function"])
    try:
        result = {"gave": function(*order["arguments"])}
    except BaseException as failure:
        result = {"raised": f"{type(failure).__name__}: {failure}"[:2000]}
    sys.stdout.write(json.dumps(result))


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    main()
