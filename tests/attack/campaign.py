"""Runs every hostile tool once, in the jail that ships, and prints what became of it.

Takes: an order as JSON on standard input.  Gives: {probe: {status, code, outcome, detail, evidence}} as JSON.
Never: imports a probe; the jail does.

It is a script of its own, because it is started as root and as an ordinary user, with the canaries that a careless
launcher would leak: a variable, an inheritable descriptor 9.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

CANARY_DESCRIPTOR = 9
AGENT = "mallory"


def config(order: dict[str, Any]) -> dict[str, Any]:
    """The shipped defaults, and nothing but them, round the probes."""
    state = Path(order["state"])
    return {
        "version": 1,
        "tools": {"modules": order["modules"], "path": [order["tools"]]},
        "people": {"olga": {"roles": ["operator"]}},
        "agents": {AGENT: {"allowed_tools": ["*"]}},
        "sandbox": {"kind": "local"},
        "store": {"url": f"sqlite:///{state}/ringfence.db"},
        "audit": {"anchor": str(state / "anchor.log"), "signing_key": str(state / "audit.key")},
    }


async def run(order: dict[str, Any]) -> dict[str, Any]:
    from ringfence.assembly import open_runtime

    async with open_runtime(config(order), accept_as="olga") as runtime:
        session = runtime.session(agent=AGENT, user="tester")

        async def call(probe: str) -> tuple[str, dict[str, Any]]:
            return probe, (await session.call(probe, order["canaries"])).as_dict()

        waiting = [asyncio.create_task(call(probe)) for probe in order["long"]]
        told = dict([await call(probe) for probe in order["quick"]])
        told |= dict([await task for task in waiting])
        evidence = {
            event["invocation_id"]: event["body"]["evidence"]
            async for event in runtime.audit.export()
            if event["kind"] in ("tool_completed", "tool_failed")
        }
    return {probe: _row(outcome, evidence.get(outcome["invocation_id"])) for probe, outcome in told.items()}


def _row(outcome: dict[str, Any], evidence: Any) -> dict[str, Any]:
    output = outcome.get("output") or {}
    return {
        "status": outcome["status"],
        "code": outcome.get("code"),
        "outcome": output.get("outcome"),
        "detail": output.get("detail", outcome.get("message")),
        "evidence": evidence,
    }


def main() -> None:
    order = json.load(sys.stdin)
    leaked = os.open(order["canaries"]["secret_file"], os.O_RDONLY)
    os.dup2(leaked, CANARY_DESCRIPTOR, inheritable=True)
    order["canaries"]["launcher_pid"] = os.getpid()
    json.dump(asyncio.run(run(order)), sys.stdout)


if __name__ == "__main__":
    main()
