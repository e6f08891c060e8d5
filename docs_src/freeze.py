import asyncio

from ringfence import tool
from ringfence.assembly import open_runtime


@tool(safety="read")
def greet(name: str) -> str:
    """Greet a person by name."""
    return f"Hello, {name}!"


@tool(safety="financial", idempotency="required")
def refund(order: str, cents: int) -> str:
    """Pay an order back to the customer."""
    return f"{cents} cents paid back for {order}"


CONFIG = {
    "version": 1,
    "people": {"alice": {"roles": ["approver"]}, "bob": {"roles": ["operator"]}, "carol": {"roles": ["viewer"]}},
    "agents": {"ana": {"owner": "carol", "allowed_tools": ["*"]}},
    "sandbox": {"kind": "local"},
}


async def main() -> None:
    async with open_runtime(CONFIG, tools=[greet, refund]) as runtime:
        session = runtime.session(agent="ana")
        waiting = await session.call("refund", {"order": "A-17", "cents": 1250})
        print("refund:", waiting.status)

        frozen = await runtime.freezes.freeze(tool="refund", by="bob", because="refunds go to the wrong account")
        print("frozen:", frozen.freeze.scope, "| void:", len(frozen.void))

        for outcome in (
            await session.resume(waiting.invocation_id),
            await session.call("refund", {"order": "A-18", "cents": 10}),
            await session.call("greet", {"name": "Ada"}),
        ):
            print(outcome.status, getattr(outcome, "code", ""))

        await runtime.freezes.unfreeze(tool="refund", by="bob")
        print("refund:", (await session.call("refund", {"order": "A-18", "cents": 10})).status)


if __name__ == "__main__":
    asyncio.run(main())
