import asyncio
from datetime import timedelta

from ringfence import tool
from ringfence.assembly import open_runtime
from ringfence.errors import OperatorRequired


@tool(safety="financial", idempotency="required")
def refund(order: str, cents: int) -> str:
    """Pay an order back to the customer."""
    return f"{cents} cents paid back for {order}"


CONFIG = {
    "version": 1,
    "people": {"alice": {"roles": ["approver"]}, "bob": {"roles": ["operator"]}, "carol": {"roles": ["viewer"]}},
    "agents": {"ana": {"owner": "carol", "allowed_tools": ["refund"]}},
    "sandbox": {"kind": "local"},
}


async def main() -> None:
    async with open_runtime(CONFIG, tools=[refund]) as runtime:
        bounds = {"agent": "ana", "tool": "refund", "uses": 1, "lasting": timedelta(hours=8), "because": "the sale"}
        small = {"args.cents": {"lte": 1000}}
        try:
            await runtime.grants.give(**bounds, when=small, by="alice")
        except OperatorRequired as refused:
            print("refused:", refused.message)
        grant = await runtime.grants.give(**bounds, when=small, by="bob")

        session = runtime.session(agent="ana")
        for cents in (1001, 900, 800):
            outcome = await session.call("refund", {"order": "A-17", "cents": cents})
            print(cents, "cents:", outcome.status)

        (grant,) = await runtime.grants.list()
        print("used:", grant.uses, "of", grant.bounds.max_uses)
        async for event in runtime.audit.export():
            if event["kind"] == "grant_used":
                print("on record:", event["body"]["answers"], "answered, signed by", event["body"]["signed_by"])


if __name__ == "__main__":
    asyncio.run(main())
