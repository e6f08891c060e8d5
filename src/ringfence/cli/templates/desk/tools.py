"""The tools of a help desk. What a tool declares here is all that it can do, and the jail holds it to that."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from ringfence import Context, Recipient, tool

Order = Annotated[str, Field(pattern=r"^[A-Z]-[0-9]{4}$", description="An order number like A-1001.")]
Cents = Annotated[int, Field(ge=1, le=1_000_000, description="An amount in cents.")]


class Found(BaseModel):
    """An order as the desk sees it."""

    order: str
    status: str


class Refund(BaseModel):
    """A refund that was booked."""

    reference: str
    amount_cents: int


@tool(safety="read")
def find_order(order: Order) -> Found:
    """Look up how far an order is."""
    return Found(order=order, status="sent")


@tool(safety="write", idempotency="optional")
def draft_reply(customer: Annotated[str, Field(max_length=80)], points: list[str]) -> str:
    """Draft a reply to a customer from a list of points."""
    lines = "\n".join(f"- {point}" for point in points)
    return f"Dear {customer},\n\n{lines}\n\nKind regards"


@tool(safety="write", idempotency="optional")
def queue_mail(to: Annotated[str, Recipient("email")], text: str) -> str:
    """Put a mail to a customer into the queue."""
    return f"queued for {to}"


@tool(safety="financial", idempotency="required")
def refund(ctx: Context, order: Order, amount_cents: Cents) -> Refund:
    """Refund a customer's order, in part or in full."""
    return Refund(reference=f"{order}/{ctx.idempotency_key[-8:]}", amount_cents=amount_cents)
