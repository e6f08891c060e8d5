"""Example tools, one of each kind. What a tool declares here is all that it can do, and the jail holds it to that."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from ringfence import Context, Network, tool

Order = Annotated[str, Field(pattern=r"^[A-Z]-[0-9]{4}$", description="An order number like A-1001.")]
Cents = Annotated[int, Field(ge=1, le=1_000_000, description="An amount in cents.")]


class Counted(BaseModel):
    """How long a text is."""

    words: int
    characters: int


class Draft(BaseModel):
    """A reply that somebody may send."""

    subject: str
    body: str


class Rate(BaseModel):
    """What one euro is worth."""

    currency: str
    rate: float


class Refund(BaseModel):
    """A refund that was booked."""

    reference: str
    amount_cents: int


class Access(BaseModel):
    """What a person may do now."""

    person: str
    role: str


@tool(safety="read")
def greet(name: Annotated[str, Field(max_length=80)]) -> str:
    """Greet a person by name."""
    return f"Hello, {name}!"


@tool(safety="read")
def word_count(text: str) -> Counted:
    """Count the words and characters of a text."""
    return Counted(words=len(text.split()), characters=len(text))


@tool(safety="write", idempotency="optional")
def draft_reply(customer: Annotated[str, Field(max_length=80)], points: list[str]) -> Draft:
    """Draft a reply to a customer from a list of points."""
    lines = "\n".join(f"- {point}" for point in points)
    return Draft(subject=f"Your question, {customer}", body=f"Dear {customer},\n\n{lines}\n\nKind regards")


@tool(safety="network", egress="read_only", idempotency="optional", needs=[Network("api.frankfurter.dev")])
async def exchange_rate(ctx: Context, currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")]) -> Rate:
    """Look up what one euro is worth in another currency."""
    reply: Any = await ctx.http.get(f"https://api.frankfurter.dev/v1/latest?base=EUR&symbols={currency}")
    return Rate(currency=currency, rate=reply.json()["rates"][currency])


@tool(safety="financial", idempotency="required")
def refund(ctx: Context, order: Order, amount_cents: Cents) -> Refund:
    """Refund a customer's order, in part or in full."""
    return Refund(reference=f"{order}/{ctx.idempotency_key[-8:]}", amount_cents=amount_cents)


@tool(safety="privileged", idempotency="optional")
def change_role(
    person: Annotated[str, Field(max_length=40)], role: Annotated[str, Field(pattern=r"^(clerk|lead)$")]
) -> Access:
    """Change what a person may do in the shop."""
    return Access(person=person, role=role)
