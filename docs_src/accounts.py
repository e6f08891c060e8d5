import asyncio
from pathlib import Path

from ringfence import Context, Network, Secrets, tool
from ringfence.assembly import open_runtime


@tool(safety="read", needs=[Network("chat.example.com"), Secrets("CHAT_TOKEN", hosts=["chat.example.com"])])
def read_room(ctx: Context, room: str) -> str:
    """Read a room of the chat."""
    headers = {"Authorization": ctx.secrets["CHAT_TOKEN"].bearer()}
    return str(ctx.http.get(f"https://chat.example.com/rooms/{room}", headers=headers).text)


def bound_to(instance: str) -> dict[str, object]:
    return {
        "allowed_tools": ["*"],
        "network": {"allow": ["chat.example.com"]},
        "secrets": {"allow": ["CHAT_TOKEN"]},
        "bindings": [{"channel": "chat", "instance": instance}],
    }


CONFIG = {
    "version": 1,
    "accounts": {
        "chat": {
            "sales": {"agents": ["ana"], "credential": "CHAT_SALES"},
            "support": {"agents": ["ben"], "credential": "CHAT_SUPPORT"},
        }
    },
    "agents": {"ana": bound_to("sales"), "ben": bound_to("support")},
    "secrets": {
        "CHAT_SALES": {"file": "sales.key"},
        "CHAT_SUPPORT": {"file": "support.key"},
        "CHAT_TOKEN": {"account": "chat"},
    },
    "sandbox": {"kind": "local"},
}


async def main() -> None:
    for name, value in (("sales.key", "walnut-harbour-88"), ("support.key", "cobalt-meadow-17")):
        Path(name).touch(mode=0o600)
        Path(name).write_text(value)
    async with open_runtime(CONFIG, tools=[read_room]) as runtime:
        for agent, binding in (("ana", "chat:sales"), ("ben", "chat:support")):
            session = runtime.session(agent=agent, binding=binding)
            acting = await runtime.status(agent, binding=binding)
            print(agent, "acts as", acting.account, "and calls", [each.name for each in session.view])


if __name__ == "__main__":
    asyncio.run(main())
