"""A process that does one thing at a time by the clock that it sees, told what by its standard input.

Words: `call KEY` (a call that reaches the far side), `ask` (a payment that waits for votes), `resume ID`,
`vote ID` (as alice), `draw` (one of three tokens an hour), `spend N` (of ten a day), `verify`, `now`, `quit`.
Each answers with one line: what it gave, or the code of the refusal.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import pytest

from ringfence.assembly import open_runtime
from ringfence.assembly.assemble import utc_now
from ringfence.errors import RingfenceError
from ringfence.execution.sandbox import Job, RawOutput
from ringfence.runtime import Outcome, Runtime
from ringfence.runtime.outcome import Waiting
from tests.acceptance.spine import toolbox
from tests.acceptance.spine.household import scripted

# A scripted jail is refused where no test runs.
assert pytest.__version__


def jail(port: int) -> Any:
    """Every call of `draft` is one word to the far side."""
    made = scripted()
    plain = made.run

    async def run(job: Job) -> RawOutput:
        if job.tool.name != "draft":
            return await plain(job)
        key = json.loads(job.arguments)["title"]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"{key}\n".encode())
        await reader.readline()
        writer.close()
        return RawOutput(reply=json.dumps(key).encode())

    made.run = run  # type: ignore[method-assign]
    return made


async def obey(runtime: Runtime, word: str, rest: list[str]) -> str:
    session = runtime.session(agent="ana", user="ulla", id="clockwork")
    match word:
        case "call":
            return _said(await session.call("draft", {"title": rest[0]}, idempotency_key=rest[0]))
        case "ask":
            outcome = await session.call("pay", {"to": "shop", "amount": 1}, idempotency_key="pay")
            return f"{outcome.invocation_id} {outcome.approval_id}" if isinstance(outcome, Waiting) else _said(outcome)
        case "resume":
            return _said(await session.resume(rest[0]))
        case "vote":
            return str((await runtime.approvals.vote(rest[0], voter="alice", decision="approve")).status)
        case "draw":
            return _said(await session.call("echo", {"text": "x"}))
        case "spend":
            return _said(await session.call("measure", {"value": float(rest[0])}))
        case "verify":
            return "ok" if (await runtime.audit.verify()).ok else "broken"
        case _:
            return utc_now().isoformat()


def _said(outcome: Outcome) -> str:
    return getattr(outcome, "code", None) or outcome.status


async def main(config: dict[str, Any], port: int) -> None:
    loop = asyncio.get_running_loop()
    async with open_runtime(config, tools=toolbox.ALL, dangerously_sandbox=jail(port)) as runtime:
        print("ready", flush=True)
        while (line := await loop.run_in_executor(None, sys.stdin.readline)).strip() not in ("", "quit"):
            word, *rest = line.split()
            try:
                answer = await obey(runtime, word, rest)
            except RingfenceError as error:
                answer = error.code
            print(answer, flush=True)


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1]), int(sys.argv[2])))
