import asyncio
from pathlib import Path

from ringfence import CannotTell, Context, Done, Files, NotDone, tool
from ringfence.assembly import open_runtime


def was_paid(ctx: Context, key: str) -> Done[str] | NotDone | CannotTell:
    """Look where a payment leaves its receipt."""
    if f"{key}.txt" not in ctx.files.list("receipts"):
        return NotDone()
    return Done(ctx.files.read_text(f"receipts/{key}.txt"))


@tool(safety="write", idempotency="required", needs=[Files(write=["receipts"])], reconcile=was_paid)
def pay(ctx: Context, to: str, cents: int) -> str:
    """Pay an amount to somebody."""
    if to == "nobody":
        raise ValueError("there is nobody to pay")
    receipt = f"{cents} cents to {to}"
    ctx.files.write_text(f"receipts/{ctx.idempotency_key}.txt", receipt)
    if to == "an unlucky shop":
        raise ConnectionError("the bank hung up")
    return receipt


CONFIG = {
    "version": 1,
    "people": {"bob": {"roles": ["operator"]}},
    "agents": {
        "ana": {
            "allowed_tools": ["*"],
            "workspace": "work",
            "files": {"write": ["receipts"]},
            "spend_caps": [{"tools": "pay", "most": 2000, "per": "day", "amount": "args.cents"}],
        }
    },
    "sandbox": {"kind": "local"},
    "cost": {"call": 0.01},
}


async def main() -> None:
    Path("work/receipts").mkdir(parents=True)
    async with open_runtime(CONFIG, tools=[pay]) as runtime:
        session = runtime.session(agent="ana")

        async def made(to: str, cents: int, key: str) -> None:
            outcome = await session.call("pay", {"to": to, "cents": cents}, idempotency_key=key)
            call = await runtime.recorded(outcome.invocation_id)
            print(f"{key}:", outcome.status, "|", getattr(outcome, "output", None) or outcome.code, "|", call.status)

        await made("nobody", 100, "invoice-16")
        await made("an unlucky shop", 1250, "invoice-17")
        await made("an unlucky shop", 1250, "invoice-17")
        await made("a lucky shop", 900, "invoice-18")
        (cap,) = (await runtime.status("ana")).caps
        print("left today:", cap.document()["left"])


if __name__ == "__main__":
    asyncio.run(main())
