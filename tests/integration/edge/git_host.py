"""A git server: git's own `http-backend` behind a small HTTP server, which writes down every request."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.integration.edge.world import Far, Serve

_NAMES = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.com",
}


def make_repository(folder: Path, *, letter: str) -> None:
    """A repository with one letter, whose files could be served as they are."""
    work = folder / "work"
    bare = folder / "letters.git"
    for command in (
        ["git", "init", "--quiet", "--initial-branch=main", str(work)],
        ["git", "-C", str(work), "add", "."],
        ["git", "-C", str(work), "commit", "--quiet", "--message", "a letter"],
        ["git", "clone", "--quiet", "--bare", str(work), str(bare)],
        ["git", "-C", str(bare), "update-server-info"],
    ):
        subprocess.run(command, check=True, env={**os.environ, **_NAMES, "HOME": str(folder)})
        if command[1] == "init":
            (work / "letter").write_text(letter, encoding="utf-8")


def git_host(folder: Path) -> Callable[[Far], Serve]:
    """Serves the repositories below the folder; below `/files/` as a server that only has files to give."""

    def of(far: Far) -> Serve:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            head = await reader.readuntil(b"\r\n\r\n")
            first, *lines = head.decode().split("\r\n")
            far.requests.append(first)
            fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            body = await _body(reader, fields)
            far.heard += head + body
            method, target, _ = first.split()
            writer.write(await _backend(folder, method, target, fields, body))
            await writer.drain()

        return serve

    return of


async def _body(reader: asyncio.StreamReader, fields: dict[str, str]) -> bytes:
    if fields.get("transfer-encoding") != "chunked":
        return await reader.readexactly(int(fields.get("content-length", "0")))
    body = b""
    while size := int(await reader.readline(), 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readline()
    return body


async def _backend(folder: Path, method: str, target: str, fields: dict[str, str], body: bytes) -> bytes:
    path, _, query = target.partition("?")
    if path.startswith("/files/"):
        path, query = path.removeprefix("/files"), ""
    environment = {
        "PATH": os.environ["PATH"],
        "GIT_PROJECT_ROOT": str(folder),
        "GIT_HTTP_EXPORT_ALL": "1",
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "CONTENT_TYPE": fields.get("content-type", ""),
        "HTTP_CONTENT_ENCODING": fields.get("content-encoding", ""),
        "GIT_PROTOCOL": fields.get("git-protocol", ""),
    }
    child = await asyncio.create_subprocess_exec(
        "git", "http-backend", env=environment, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await child.communicate(body)
    head, _, content = said.partition(b"\r\n\r\n")
    status = next((line[8:] for line in head.split(b"\r\n") if line.lower().startswith(b"status:")), b"200 OK")
    kept = b"".join(line + b"\r\n" for line in head.split(b"\r\n") if not line.lower().startswith(b"status:"))
    ending = b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(content)
    return b"HTTP/1.1 " + status.strip() + b"\r\n" + kept + ending + content
