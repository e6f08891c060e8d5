import asyncio

from ringfence import tool
from ringfence.assembly import open_runtime


@tool(safety="financial", idempotency="required")
def refund(order: str, cents: int) -> str:
    """Pay an order back to the customer."""
    return f"{cents} cents paid back for {order}"


CONFIG = {
    "version": 1,
    "people": {"alice": {"roles": ["approver"]}},
    "agents": {"ana": {"allowed_tools": ["refund"]}},
    "sandbox": {"kind": "local"},
}


async def main() -> None:
    async with open_runtime(CONFIG, tools=[refund]) as runtime:
        session = runtime.session(agent="ana", user="carol")
        asked = await session.call("refund", {"order": "A-17", "cents": 1250})
        print(asked.status)
        (request,) = await runtime.approvals.list()
        await runtime.approvals.vote(request.id, voter="alice", decision="approve")
        done = await session.resume(asked.invocation_id)
        print(done.status, done.as_dict().get("output"))


if __name__ == "__main__":
    asyncio.run(main())
