"""Ordinary tools, as an author writes them."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field

from ringfence import Context, Result, tool


def _even(number: int) -> int:
    if number % 2:
        raise ValueError("must be even")
    return number


class Order(BaseModel):
    item: str
    amount: Annotated[int, AfterValidator(_even)]


class Priced(BaseModel):
    item: str
    total: float = Field(serialization_alias="totalPrice")


@tool(safety="read")
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool(safety="read")
async def add_later(a: int, b: int) -> int:
    """Add two numbers, after others had a turn."""
    await asyncio.sleep(0)
    return a + b


@tool(safety="read")
def price(order: Order) -> Priced:
    """Price an order."""
    return Priced(item=order.item, total=order.amount * 1.5)


@tool(safety="read")
def explained(number: int) -> Result[int]:
    """Return a number with its own wording."""
    return Result(number, for_model=f"the number is {number}")


@tool(safety="read")
def whoami(ctx: Context) -> list[str]:
    """Say what the context says."""
    return [ctx.agent, ctx.session, ctx.idempotency_key]


@tool(safety="read")
def undeclared(ctx: Context) -> str:
    """Ask for what was not declared."""
    return str(ctx.http)


@tool(safety="read")
def talkative(ctx: Context) -> str:
    """Print, log, and write to the standard descriptors."""
    print("printed")
    print("complained", file=sys.stderr)
    os.write(1, b"written\n")
    ctx.log.info("logged")
    return "returned"


@tool(safety="read")
def listening() -> str:
    """Read standard input."""
    return sys.stdin.read()


@tool(safety="read")
def broken(text: str) -> int:
    """Raise."""
    raise LookupError(text)


@tool(safety="read")
def leaving() -> int:
    """Leave by SystemExit."""
    sys.exit(3)


@tool(safety="read")
def mistyped() -> int:
    """Return something else than declared."""
    return "text"  # type: ignore[return-value]


@tool(safety="read")
def unwritable() -> int:
    """Return what no JSON can hold."""
    return object()  # type: ignore[return-value]
