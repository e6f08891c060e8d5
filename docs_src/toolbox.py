import asyncio
from pathlib import Path
from typing import Any

from ringfence.assembly import open_runtime

CONFIG = {
    "version": 1,
    "tools": {"modules": ["ringfence.tools"]},
    "people": {"bob": {"roles": ["operator"]}},
    "agents": {
        "ana": {
            "allowed_tools": ["*_file", "*_files", "run_*"],
            "workspace": "./desk",
            "files": {"read": ["notes"], "write": ["outbox"]},
            "processes": {"allow": ["wc"]},
        }
    },
    "sandbox": {"kind": "local"},
}
CALLS = [
    ("search_files", {"pattern": r"\d+ days", "kind": "expression"}),
    ("read_file", {"path": "notes/leave.md", "lines": 1}),
    ("read_file", {"path": "../notes/../../etc/passwd"}),
    ("write_file", {"path": "outbox/draft.md", "text": "Dear Ada,\n"}),
    ("write_file", {"path": "outbox/draft.md", "text": "Dear Bob,\n"}),
    ("run_python", {"code": "import statistics\nstatistics.median([3, 1, 2])"}),
    ("run_python", {"code": "open('/etc/shadow').read()"}),
    ("run_command", {"program": "wc", "arguments": ["-w", "notes/leave.md"]}),
    ("run_command", {"program": "sh", "arguments": ["-c", "id"]}),
]


async def main() -> None:
    notes = Path("desk/notes")
    notes.mkdir(parents=True)
    (notes / "leave.md").write_text("Thirty days a year.\nThat is 30 days, for everybody.\n")
    async with open_runtime(CONFIG, accept_as="bob") as runtime:
        session = runtime.session(agent="ana")
        for name, arguments in CALLS:
            outcome = (await session.call(name, arguments)).as_dict()
            print(name, "|", outcome["status"], "|", told(outcome))


def told(outcome: dict[str, Any]) -> str:
    """The part of an outcome that says most."""
    output = outcome.get("output")
    if output is None:
        return f"{outcome['code']}: {outcome['message']}"
    said = next(output[key] for key in ("matches", "text", "size", "error", "value", "stdout") if output.get(key))
    return str(said).strip().splitlines()[-1]


if __name__ == "__main__":
    asyncio.run(main())
