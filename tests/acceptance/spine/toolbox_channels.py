"""Tools that write to somebody; module-level, as tools handed over in code must be.

Takes: nothing.  Gives: one tool for each place where a recipient can stand.  Never: sends anything.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel

from ringfence import Network, Recipient, Secrets, Tool, tool

Mail = Annotated[str, Recipient("email")]


class Letter(BaseModel):
    """One letter."""

    to: Mail
    copies: list[Mail] = []
    text: str = ""


@tool(safety="write", idempotency="optional")
def send_mail(to: Mail, text: str = "") -> str:
    """Send a mail."""
    return to


@tool(safety="write", idempotency="optional")
def send_letters(letters: list[Letter]) -> str:
    """Send several letters."""
    return letters[0].to


@tool(safety="write", idempotency="optional")
def send_text(number: Annotated[str, Recipient("sms")], text: str = "") -> str:
    """Send a text message."""
    return number


@tool(safety="write", idempotency="optional")
def report(text: str, to: Mail = "boss@elsewhere.example") -> str:
    """Send a report, to the boss unless told otherwise."""
    return text


@tool(
    safety="read",
    needs=[Network("api.chat.example"), Secrets("CHAT_SALES", hosts=["api.chat.example"])],
)
def read_chat(room: str) -> str:
    """Read a room with the sales account."""
    return room


ALL: tuple[Tool, ...] = tuple(value for value in list(globals().values()) if isinstance(value, Tool))
