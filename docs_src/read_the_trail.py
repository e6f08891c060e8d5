import asyncio
import json
import sqlite3
from pathlib import Path

from ringfence import tool
from ringfence.assembly import open_runtime


@tool(safety="read")
def word_count(text: str) -> int:
    """Count the words of a text."""
    return len(text.split())


CONFIG = {"version": 1, "agents": {"ana": {"allowed_tools": ["word_count"]}}, "sandbox": {"kind": "local"}}


async def make_some_history() -> None:
    async with open_runtime(CONFIG, tools=[word_count]) as runtime:
        session = runtime.session(agent="ana")
        await session.call("word_count", {"text": "to be or not to be"})
        await session.call("word_count", {"words": "wrong name"})
        with Path("trail.jsonl").open("w") as file:
            async for event in runtime.audit.export():
                file.write(json.dumps(event) + "\n")
                print(event["kind"], event["tool"] or "-", (event["body"] or {}).get("code") or "")
        print("intact:", (await runtime.audit.verify()).ok)


def change_one_row() -> None:
    """What somebody with the file and enough patience can do: lift the guard, change a row, put the guard back."""
    store = sqlite3.connect("state/ringfence.db")
    (guard,) = store.execute("SELECT sql FROM sqlite_master WHERE name = 'audit_events_fixed'").fetchone()
    store.execute("DROP TRIGGER audit_events_fixed")
    store.execute("UPDATE audit_events SET agent = 'bob' WHERE kind = 'policy_decision'")
    store.execute(guard)
    store.commit()
    store.close()


async def look_again() -> None:
    async with open_runtime(CONFIG, tools=[word_count]) as runtime:
        report = await runtime.audit.verify()
        print("intact:", report.ok)


if __name__ == "__main__":
    asyncio.run(make_some_history())
    change_one_row()
    asyncio.run(look_again())
