import asyncio

from ringfence import tool
from ringfence.assembly import open_runtime
from ringfence.errors import VoteRefused
from ringfence.runtime import Refused, Waiting


@tool(safety="financial", idempotency="required")
def refund(order: str, cents: int) -> str:
    """Pay an order back to the customer."""
    return f"{cents} cents paid back for {order}"


CONFIG = {
    "version": 1,
    "people": {
        "alice": {"roles": ["approver"], "groups": ["treasury"]},
        "bob": {"roles": ["approver"]},
        "carol": {"roles": ["approver"], "groups": ["treasury"]},
    },
    "agents": {"ana": {"owner": "carol", "allowed_tools": ["refund"]}},
    "approvals": {"expire": "2h", "routes": {"human": {"group": "treasury"}}},
    "sandbox": {"kind": "local"},
}


async def main() -> None:
    async with open_runtime(CONFIG, tools=[refund]) as runtime:
        session = runtime.session(agent="ana")
        waiting = await session.call("refund", {"order": "A-17", "cents": 1250})
        assert isinstance(waiting, Waiting)

        (request,) = await runtime.approvals.list()
        print("asked:", request.card["tool"], request.card["arguments"])
        print("because:", request.card["reasons"][0]["because"])

        for voter in ("carol", "bob"):
            try:
                await runtime.approvals.vote(request.id, voter=voter, decision="approve")
            except VoteRefused as refused:
                print("refused:", refused.message)

        await runtime.approvals.vote(request.id, voter="alice", decision="reject", reason="the order was never paid")
        for outcome in (
            await session.resume(waiting.invocation_id),
            await session.call("refund", {"order": "A-17", "cents": 1250}),
        ):
            assert isinstance(outcome, Refused)
            print(outcome.code, "|", outcome.message)


if __name__ == "__main__":
    asyncio.run(main())
