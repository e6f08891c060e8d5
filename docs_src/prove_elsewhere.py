import asyncio
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ringfence import tool
from ringfence.assembly import open_runtime
from ringfence.audit.bundle import verify_bundle
from ringfence.audit.checkpoint import key_fingerprint


@tool(safety="read")
def word_count(text: str) -> int:
    """Count the words of a text."""
    return len(text.split())


CONFIG = {
    "version": 1,
    "people": {"bob": {"roles": ["operator"]}},
    "agents": {"ana": {"allowed_tools": ["word_count"]}},
    "sandbox": {"kind": "local"},
    "audit": {"retention": "400d"},
}


async def here() -> str:
    async with open_runtime(CONFIG, tools=[word_count]) as runtime:
        session = runtime.session(agent="ana", id="monday")
        await session.call("word_count", {"text": "to be or not to be"})
        await session.call("word_count", {"words": "wrong name"})

        for call in await runtime.audit.replay("monday"):
            print("replayed:", call.tool, call.arguments, call.ended, call.code or call.output)

        removed = await runtime.audit.remove_bodies(by="bob")
        print("bodies older than 400 days:", removed.bodies)

        with Path("trail.bundle").open("wb") as file:
            await runtime.audit.bundle(file.write)
        return (await runtime.audit.verify()).key


def elsewhere(key: str) -> None:
    with Path("trail.bundle").open("rb") as file:
        print("with the key that we kept:", verify_bundle(file, key=key).ok)
    another = key_fingerprint(Ed25519PrivateKey.generate().public_key())
    with Path("trail.bundle").open("rb") as file:
        print("with any other key:", verify_bundle(file, key=another).ok)


if __name__ == "__main__":
    elsewhere(asyncio.run(here()))
