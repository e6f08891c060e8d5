"""`fetch_url`: a page from a host that the agent may reach, as text.

Takes: a URL.  Gives: status, type and text.  Never: sends anything but a GET, or goes to a host that is not on the
agent's list, not by a redirect either: the edge makes every request.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from ringfence import FROM_AGENT, Context, Limits, Network, Retry, Sink, tool
from ringfence.tools.arguments import wrong
from ringfence.tools.markup import plain_text

MOST_BYTES = 512 * 1_024
_SECONDS = 20
_MARKUP = ("text/html", "application/xhtml+xml")
# Types that are text though their name does not begin so.
_TEXTS = ("json", "xml", "javascript", "yaml", "x-www-form-urlencoded", "graphql", "toml")


class Page(BaseModel):
    """An answer, as far as it was wanted."""

    url: str = Field(description="Where the text is from in the end, after redirects.")
    status: int
    content_type: str
    text: str
    cut: bool = Field(description="Whether the page goes on beyond 512 KiB.")


@tool(
    safety="read",
    needs=[Network(FROM_AGENT)],
    retry=Retry(2, backoff=0.5),
    limits=Limits(wall_seconds=30, cpu_seconds=10, memory_mb=256, output_kb=2_048),
)
async def fetch_url(
    ctx: Context,
    url: Annotated[
        str,
        Field(
            max_length=2_048,
            pattern=r"^https?://[^\s\x00-\x1f]+$",
            description="The page's address, with `https://` (or `http://`) in front.",
            examples=["https://docs.example.com/guide"],
        ),
        Sink("host"),
    ],
    show: Annotated[
        Literal["text", "source"],
        Field(description="`text` leaves the markup of an HTML page out; `source` gives the page as it is."),
    ] = "text",
) -> Page:
    """Fetch a page or document by GET and give its text.

    Only hosts that this agent may reach answer. A status of 400 and above is given like any other. What is not text
    is refused.
    """
    async with ctx.http.stream("GET", url, timeout=_SECONDS, follow_redirects=True) as response:
        kind = str(response.headers.get("content-type", "text/plain"))
        _require_text(kind, coding=str(response.headers.get("content-encoding", "identity")))
        content = bytearray()
        async for piece in response.aiter_bytes():
            content += piece
            if len(content) > MOST_BYTES:
                break
        cut = len(content) > MOST_BYTES
        response.content = bytes(content[:MOST_BYTES])
        text = str(response.text)
        marked_up = kind.partition(";")[0].strip().lower() in _MARKUP
        return Page(
            url=str(response.url),
            status=int(response.status_code),
            content_type=kind[:200],
            text=plain_text(text) if marked_up and show == "text" else text,
            cut=cut,
        )


def _require_text(kind: str, *, coding: str) -> None:
    name = kind.partition(";")[0].strip().lower()
    major, _, minor = name.partition("/")
    if major != "text" and not any(minor == word or minor.endswith(f"+{word}") for word in _TEXTS):
        raise wrong("url", f"the answer is `{name}`, not text", remedy="fetch a page or a document of text")
    if coding.strip().lower() not in ("", "identity"):
        raise wrong("url", f"the answer is packed as `{coding}`", remedy="fetch it from elsewhere")
