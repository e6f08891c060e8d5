from typing import Annotated

from pydantic import BaseModel, Field

from ringfence import Context, Files, Network, Recipient, Secrets, tool
from ringfence.errors import DeclarationRefused


class Sent(BaseModel):
    message_id: str


@tool(
    safety="network",
    idempotency="required",
    needs=[Network("api.mail.example"), Secrets("MAIL_KEY", hosts=["api.mail.example"])],
)
async def send_email(
    ctx: Context, to: Annotated[str, Recipient("email")], subject: Annotated[str, Field(max_length=200)]
) -> Sent:
    """Send one mail to a customer."""
    key = ctx.secrets["MAIL_KEY"].bearer()
    reply = await ctx.http.post("https://api.mail.example/send", json={"to": to}, headers={"Authorization": key})
    return Sent(message_id=reply.headers["X-Message-Id"])


@tool(safety="read", needs=[Files(read=["handbook"])])
def find_page(ctx: Context, title: str) -> str | None:
    """Find a page of the handbook by its title."""
    return next((name for name in ctx.files.list("handbook") if title in name), None)


for declared in (send_email, find_page):
    print(declared.name, "| safety", declared.safety, "| egress", declared.egress)
print("subject:", send_email.input_schema["properties"]["subject"]["maxLength"], "characters at most")
print("title:", find_page.input_schema["properties"]["title"]["maxLength"], "characters at most")

try:

    @tool(safety="write", idempotency="optional")
    def save(anything: dict) -> None:  # type: ignore[type-arg]
        """Save it."""

except DeclarationRefused as refused:
    print(refused.code, "|", refused.message)
