import asyncio

from ringfence import tool
from ringfence.assembly import open_runtime
from ringfence.runtime import Outcome, Waiting


@tool(safety="read")
def word_count(text: str) -> int:
    """Count the words of a text."""
    return len(text.split())


@tool(safety="financial", idempotency="required")
def refund(order: str, cents: int) -> str:
    """Pay an order back to the customer."""
    return f"{cents} cents paid back for {order}"


CONFIG = {
    "version": 1,
    "people": {"alice": {"roles": ["approver"]}, "carol": {"roles": ["viewer"]}},
    "agents": {"ana": {"owner": "carol", "allowed_tools": ["word_count", "refund"]}},
    "sandbox": {"kind": "local"},
}


def show(name: str, outcome: Outcome) -> None:
    told = outcome.as_dict()
    print(name, told["status"], told.get("output") or told.get("code") or f"for {told['votes_needed']} vote")


async def main() -> None:
    async with open_runtime(CONFIG, tools=[word_count, refund]) as runtime:
        session = runtime.session(agent="ana")
        show("word_count", await session.call("word_count", {"text": "to be or not to be"}))
        show("drop_tables", await session.call("drop_tables", {}))
        paid = await session.call("refund", {"order": "A-17", "cents": 1250})
        show("refund", paid)
        if isinstance(paid, Waiting):
            await runtime.approvals.vote(paid.approval_id, voter="alice", decision="approve")
            show("refund", await session.resume(paid.invocation_id))
        print("trail intact:", (await runtime.audit.verify()).ok)


if __name__ == "__main__":
    asyncio.run(main())
