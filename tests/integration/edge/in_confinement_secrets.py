"""Tools that hold a secret on a host without namespaces, as one program: it prints what became of it, as JSON."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from ringfence.execution.sandbox import Fault
from ringfence.execution.strongbox import Strongbox
from tests.integration.edge.jails import TOOLS
from tests.integration.edge.vault import PERMITS, VALUE, Fixed, Vaulted, refusals
from tests.integration.edge.world import (
    API,
    API_ADDRESS,
    OTHER,
    OTHER_ADDRESS,
    TestAuthority,
    World,
    http_server,
)


async def run(folder: Path) -> dict[str, Any]:
    certificates = folder / "certificates"
    certificates.mkdir()
    authority = TestAuthority(certificates)
    os.environ["SSL_CERT_FILE"] = str(authority.roots)
    world = World(folder=folder, names={API: [API_ADDRESS], OTHER: [OTHER_ADDRESS]})
    secure = authority.server_side(API)
    async with (
        world.server(http_server(), at=[(API_ADDRESS, 443)], tls=secure) as listed,
        world.server(http_server(), at=[(OTHER_ADDRESS, 443), (API_ADDRESS, 80)]) as other,
    ):
        yard = Vaulted(state=folder / "state", world=world, permits=PERMITS)
        yard.strongbox = Strongbox({"API_KEY": Fixed()}, key=b"k")
        await yard.strongbox.load()
        try:
            await yard.load("holding", folder=TOOLS)
            return await calls(yard, listed=listed, other=other)
        finally:
            await yard.close()


async def calls(yard: Vaulted, *, listed: Any, other: Any) -> dict[str, Any]:
    gave, raw = await yard.use("sign_in", url=f"https://{API}/x")
    arrived = f"Authorization: Bearer {VALUE}\r\n".encode() in listed.heard
    misplaced, noticed = await yard.use("smuggle", url=f"https://{API}", place="body", spelling="plain")
    elsewhere, _ = await yard.use("sign_in", url=f"https://{OTHER}/")
    return {
        "posture": raw.evidence["posture"],
        "status": json.loads(gave)[0] if not isinstance(gave, Fault) else gave.message,
        "arrived": arrived,
        "known to the tool": VALUE in str(gave),
        "misplaced": [isinstance(misplaced, Fault), sorted({code for code, _ in refusals(noticed)})],
        "elsewhere": [isinstance(elsewhere, Fault), VALUE.encode() in other.heard],
    }


if __name__ == "__main__":
    os.umask(0o022)
    with tempfile.TemporaryDirectory() as made:
        os.chmod(made, 0o755)
        print(json.dumps(asyncio.run(run(Path(made)))))
