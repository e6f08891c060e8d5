import asyncio
from pathlib import Path

from ringfence import Context, Files, Processes, tool
from ringfence.assembly import open_runtime


@tool(safety="read", needs=[Files(read=["handbook"])])
def look_up(ctx: Context, page: str) -> str:
    """Read a page of the handbook."""
    text: str = ctx.files.read_text(f"handbook/{page}")
    return text


@tool(safety="write", idempotency="optional", needs=[Files(write=["outbox"]), Processes("wc")])
def post(ctx: Context, name: str, text: str) -> int:
    """Put a letter into the outbox and count its words."""
    ctx.files.write_text(f"outbox/{name}", text)
    return int(ctx.processes.run(["wc", "-w"], input=text).stdout)


CONFIG = {
    "version": 1,
    "agents": {
        "ana": {
            "allowed_tools": ["*"],
            "workspace": "./desk",
            "files": {"read": ["handbook"], "write": ["outbox"]},
            "processes": {"allow": ["wc"]},
        }
    },
    "sandbox": {"kind": "local"},
}


async def main() -> None:
    handbook = Path("desk/handbook")
    handbook.mkdir(parents=True)
    (handbook / "leave").write_text("Thirty days.")
    (handbook / "shortcut").symlink_to("/etc/passwd")
    async with open_runtime(CONFIG, tools=[look_up, post]) as runtime:
        session = runtime.session(agent="ana")
        for page in ("leave", "../handbook/leave", "../../../etc/passwd", "shortcut"):
            outcome = await session.call("look_up", {"page": page})
            print(page, "|", outcome.status, getattr(outcome, "code", ""))
        letter = await session.call("post", {"name": "ada", "text": "see you soon"})
        print(letter.as_dict()["output"], letter.as_dict()["effects"]["files"]["written"])


if __name__ == "__main__":
    asyncio.run(main())
