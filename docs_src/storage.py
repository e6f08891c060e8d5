import asyncio
from datetime import timedelta

from ringfence import Context, Storage, tool
from ringfence.assembly import open_runtime


@tool(safety="write", idempotency="optional", needs=[Storage("agent")])
def note(ctx: Context, about: str, text: str) -> str:
    """Remember something about a customer for a month."""
    ctx.storage.set(f"notes/{about}", {"text": text}, ttl=timedelta(days=30))
    return about


@tool(safety="read", needs=[Storage("agent")])
def notes(ctx: Context) -> list[str]:
    """List what is remembered."""
    return [f"{key}: {ctx.storage.get(key)['text']}" for key in ctx.storage.list("notes/")]


@tool(safety="write", idempotency="optional", needs=[Storage("tool")])
async def next_ticket(ctx: Context) -> int:
    """Give out the next ticket number, each once."""
    while True:
        last = await ctx.storage.get("last")
        number: int = 1 if last is None else last + 1
        if await ctx.storage.compare_and_set("last", last, number):
            return number


@tool(safety="write", idempotency="optional", needs=[Storage("session")])
def hoard(ctx: Context, size: int) -> str:
    """Keep a long text in the session."""
    ctx.storage.set("long", "x" * size)
    return "kept"


CONFIG = {
    "version": 1,
    "agents": {"ana": {"allowed_tools": ["*"]}, "ben": {"allowed_tools": ["*"]}},
    "storage": {"value_kb": 64},
    "sandbox": {"kind": "local"},
}


async def main() -> None:
    async with open_runtime(CONFIG, tools=[note, notes, next_ticket, hoard]) as runtime:
        ana, ben = runtime.session(agent="ana"), runtime.session(agent="ben")
        noted = await ana.call("note", {"about": "ada", "text": "prefers mornings"})
        print("ana wrote", noted.as_dict()["effects"]["storage"])
        for session in (ana, ben):
            known = await session.call("notes", {})
            print(known.as_dict()["output"])
        tickets = await asyncio.gather(*(ana.call("next_ticket", {}, idempotency_key=f"t{n}") for n in range(4)))
        print(sorted(ticket.as_dict()["output"] for ticket in tickets))
        full = await ana.call("hoard", {"size": 100_000})
        print(full.status, full.as_dict()["code"], "|", full.as_dict()["remedy"])


if __name__ == "__main__":
    asyncio.run(main())
