from typing import Annotated

from pydantic import BaseModel, Field

from ringfence import Context, Files, Network, Recipient, Secrets, tool
from ringfence.errors import DeclarationRefused


class Ticket(BaseModel):
    number: int


@tool(
    safety="network",
    idempotency="required",
    needs=[Network("desk.example.com"), Secrets("DESK_KEY", hosts=["desk.example.com"])],
)
async def open_ticket(
    title: Annotated[str, Field(max_length=120)], tell: Annotated[str, Recipient("email")], ctx: Context
) -> Ticket:
    """Open a ticket at the help desk, and tell one person about it."""
    headers = {"Authorization": ctx.secrets["DESK_KEY"].bearer()}
    answer = await ctx.http.post("https://desk.example.com/tickets", json={"title": title, "cc": tell}, headers=headers)
    return Ticket(number=answer.json()["number"])


@tool(safety="read", needs=[Files(read=["handbook"])])
def find_page(ctx: Context, title: str) -> str | None:
    """Find a page of the handbook by its title."""
    return next((name for name in ctx.files.list("handbook") if title in name), None)


for declared in (open_ticket, find_page):
    print(declared.name, "| safety", declared.safety, "| egress", declared.egress)
for declared in (open_ticket, find_page):
    print(declared.name, "| title of", declared.input_schema["properties"]["title"]["maxLength"], "characters at most")

try:

    @tool(safety="write", idempotency="optional")
    def save(anything: dict) -> None:  # type: ignore[type-arg]
        """Save it."""

except DeclarationRefused as refused:
    print(refused.code, "|", refused.message)
