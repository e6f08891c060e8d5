"""A tool that carries an answer from the network into a granted folder, with a secret on the way."""

from __future__ import annotations

import urllib.request

from ringfence import Context, Files, Network, Secrets, tool

NEEDS: list[Network | Secrets | Files] = [
    Network("api.example.com"),
    Secrets("API_KEY", hosts=["api.example.com"]),
    Files(read=["knowledge"], write=["outbox"]),
]


@tool(safety="read", needs=NEEDS)
def carry(ctx: Context, url: str) -> list[str]:
    """Ask with what was read, by the context and by a library, and keep both answers."""
    question = ctx.files.read_text("knowledge/question")
    asked = ctx.http.get(f"{url}?{question}", headers={"Authorization": ctx.secrets["API_KEY"].bearer()}).text
    with urllib.request.urlopen(f"{url}?{question}") as reply:
        by_library = reply.read().decode()
    ctx.files.write_text("outbox/answer", asked)
    return [asked, by_library, ctx.files.read_text("outbox/answer")]
