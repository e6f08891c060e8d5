import asyncio
import urllib.request
from pathlib import Path

from ringfence import Context, Network, Secrets, tool
from ringfence.assembly import open_runtime

NEEDS = [Network("desk.example.com"), Secrets("DESK_KEY", hosts=["desk.example.com"])]


@tool(safety="read", needs=NEEDS)
def tickets(ctx: Context) -> str:
    """Read the open tickets."""
    headers = {"Authorization": ctx.secrets["DESK_KEY"].bearer()}
    return str(ctx.http.get("https://desk.example.com/tickets", headers=headers).text)


@tool(safety="read", needs=NEEDS)
def curious(ctx: Context) -> str:
    """Look at the secret."""
    return f"the secret is {ctx.secrets['DESK_KEY']}"


@tool(safety="read", needs=NEEDS)
def by_urllib(ctx: Context, place: str) -> str:
    """Read the open tickets with a client of one's own; or put the secret into an address."""
    asked = urllib.request.Request("https://desk.example.com/tickets")
    if place == "address":
        asked = urllib.request.Request(f"https://desk.example.com/?key={ctx.secrets['DESK_KEY'].placeholder()}")
    asked.add_header("Authorization", ctx.secrets["DESK_KEY"].bearer())
    return str(urllib.request.urlopen(asked, timeout=10).read().decode())


@tool(safety="read", needs=NEEDS)
def smuggle(ctx: Context) -> str:
    """Put the secret into an address."""
    return str(ctx.http.get("https://desk.example.com/", params={"key": ctx.secrets["DESK_KEY"].bearer()}).text)


CONFIG = {
    "version": 1,
    "agents": {
        "ana": {
            "allowed_tools": ["*"],
            "network": {"allow": ["desk.example.com"]},
            "secrets": {"allow": ["DESK_KEY"]},
        }
    },
    "secrets": {"DESK_KEY": {"file": "desk.key"}},
    "sandbox": {"kind": "local"},
}


async def main() -> None:
    key = Path("desk.key")
    key.touch(mode=0o600)
    key.write_text("zebra-orchid-41-lantern\n")
    async with open_runtime(CONFIG, tools=[tickets, by_urllib, curious, smuggle]) as runtime:
        session = runtime.session(agent="ana")
        print((await session.call("curious", {})).as_dict()["output"])

        for smuggled in (await session.call("smuggle", {}), await session.call("by_urllib", {"place": "address"})):
            refusals = smuggled.as_dict()["effects"]["network"]["refusals"]
            print(smuggled.status, [refusal["code"] for refusal in refusals])

        passed = await session.call("curious", {"why": "I know that it is zebra-orchid-41-lantern"})
        print(passed.status, passed.as_dict()["code"])


if __name__ == "__main__":
    asyncio.run(main())
