"""Example tools for the acceptance and attack tests; module-level, as tools handed over in code must be.

Takes: nothing.  Gives: one tool for each corner of a contract.  Never: runs; a scripted sandbox plays the jail.
"""

from __future__ import annotations

from importlib.machinery import ModuleSpec
from typing import Annotated

from pydantic import BaseModel, Field

from ringfence import FROM_AGENT, Context, Files, Network, Processes, Result, Retry, Secrets, Storage, Tool, tool

# A module of its own, so that its source is this file and not every file beneath `tests`.
__spec__ = ModuleSpec("toolbox", None, origin=__file__)


class Row(BaseModel):
    """One customer."""

    id: int
    name: str


class Order(BaseModel):
    """What the only argument of a tool may be."""

    item: str = Field(max_length=40)
    count: int = Field(ge=1, le=10)


@tool(safety="read")
def look_up(name: str, limit: int = 10) -> list[Row]:
    """Find customers by name."""
    return [Row(id=limit, name=name)]


@tool(safety="read")
async def echo(text: str) -> str:
    """Say the same again."""
    return text


@tool(safety="read")
def tell(question: str) -> Result[dict[str, int]]:
    """Count, and say it in words."""
    return Result({question: 1}, for_model="one")


@tool(safety="read")
def measure(value: float) -> float:
    """Give a number back."""
    return value


@tool(safety="write", idempotency="optional")
def note(text: str) -> None:
    """Write a note."""


@tool(safety="write", idempotency="optional", approval="human")
def publish(text: str, weight: float = 1.0) -> str:
    """Publish a text once a person agrees."""
    return text


@tool(safety="write", idempotency="optional")
def order(order: Order) -> int:
    """Order something."""
    return order.count


@tool(safety="financial", idempotency="required")
def pay(to: str, amount: int) -> str:
    """Pay somebody."""
    return f"{to}:{amount}"


@tool(safety="privileged", idempotency="required")
def grant_access(person: str) -> str:
    """Let a person in."""
    return person


@tool(safety="network", idempotency="optional", needs=[Network("api.crm.example")])
def post_lead(name: str) -> str:
    """Tell the CRM about a lead."""
    return name


@tool(safety="read", needs=[Network("api.crm.example")])
def fetch_lead(name: str) -> str:
    """Ask the CRM about a lead."""
    return name


@tool(safety="read", needs=[Files(read=["knowledge"])])
def read_page(title: str) -> str:
    """Read a page of the handbook."""
    return title


@tool(safety="write", idempotency="optional", needs=[Files(read=FROM_AGENT, write=["outbox"])])
def draft(title: str) -> str:
    """Draft a letter in the outbox."""
    return title


@tool(
    safety="read",
    needs=[Network("api.crm.example"), Secrets("CRM_KEY", hosts=["api.crm.example"], reveal=True)],
)
def log_in(name: str) -> str:
    """Log in with the raw key."""
    return name


@tool(safety="read", needs=[Processes("git")])
def history(path: str) -> str:
    """Read a history."""
    return path


@tool(safety="read", needs=[Storage("tool")])
def remember(key: str) -> str:
    """Read a row of its own."""
    return key


@tool(safety="read", available=["secret:NO_SUCH_SECRET"])
def needs_a_secret(name: str) -> str:
    """Read with a secret that this host may lack."""
    return name


@tool(safety="read", retry=Retry(attempts=3, backoff=0))
def flaky(name: str) -> str:
    """Read from somewhere that fails at times."""
    return name


@tool(safety="write", idempotency="optional", needs=[Files(write=["outbox"])], retry=Retry(attempts=3, backoff=0))
def flaky_write(name: str) -> str:
    """Write to somewhere that fails at times."""
    return name


@tool(safety="write", idempotency="required", retry=Retry(attempts=3, backoff=0), far_side_dedupes=True)
def deduped_write(name: str) -> str:
    """Write to somewhere that knows a repeated key."""
    return name


@tool(safety="write", idempotency="optional", approval="pack:treasury")
def by_pack(text: str) -> str:
    """Write by the rules of a pack."""
    return text


@tool(safety="read")
def narrow(
    code: Annotated[str, Field(pattern="^[a-z]+$", max_length=8)],
    address: Annotated[str, Field(json_schema_extra={"format": "ipv4"})],
    number: int,
) -> str:
    """Take arguments that are held to a pattern, a format and a range."""
    return f"{code}{address}{number}"


@tool(safety="read")
async def who(ctx: Context, name: str) -> str:
    """Say who asks."""
    return f"{ctx.agent}/{name}"


ALL: tuple[Tool, ...] = tuple(value for value in list(globals().values()) if isinstance(value, Tool))
