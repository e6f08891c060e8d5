"""Tools that hold a secret on a host without namespaces, as one program: it prints what became of it, as JSON."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from ringfence.contract.capabilities import Files
from ringfence.execution.sandbox import Fault
from ringfence.execution.strongbox import Strongbox
from ringfence.sandbox.floor import Floor
from ringfence.sandbox.local import LocalProcessSandbox
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

OWNER = 1234


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
        permits = replace(PERMITS, files=Files(read=["knowledge"], write=["outbox"]))
        yard = Vaulted(state=folder / "state", world=world, permits=permits)
        yard.sandbox = LocalProcessSandbox(
            yard.pool, edge=yard.edge, workspaces={"ana": str(furnish(folder / "desk"))}, floor=Floor(homes={})
        )
        yard.strongbox = Strongbox({"API_KEY": Fixed()}, key=b"k")
        await yard.strongbox.load()
        try:
            await yard.load("holding", folder=TOOLS)
            await yard.load("carrying", folder=TOOLS)
            told = await calls(yard, listed=listed, other=other)
            carried, raw = await yard.use("carry", url=f"https://{API}/x")
            question = b"GET /x?leave HTTP/1.1" in listed.heard
            files = (raw.effects.files or {}).get("written")
            return {**told, "carried": carried, "asked": question, "kept": files}
        finally:
            await yard.close()


def furnish(desk: Path) -> Path:
    """A workspace; as root, of a user who is not."""
    for name in ("knowledge", "outbox"):
        (desk / name).mkdir(parents=True, mode=0o700)
    (desk / "knowledge" / "question").write_text("leave")
    if os.geteuid() == 0:
        for place in (desk, *desk.rglob("*")):
            os.chown(place, OWNER, OWNER)
    return desk


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
