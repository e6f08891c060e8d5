"""`ctx.http`: the tool says what it wants, the edge outside makes the request and passes the answer on.

Takes: a method, a URL and what httpx calls the rest.  Gives: a `Response`, or its body piece by piece.
Never: opens a connection to anybody but the edge, or follows a redirect itself.
"""

from __future__ import annotations

import asyncio
import json as json_format
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

from ringfence.errors import CallFailed
from ringfence.inside import mediation
from ringfence.inside.http_answer import Response, require_answer

_SECONDS = 30.0
_MOST_REDIRECTS = 10
_CUT_SHORT = "the answer was cut short"


def _request(
    method: str,
    url: str,
    *,
    params: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    content: bytes | str | None = None,
    data: Mapping[str, Any] | None = None,
    json: Any = None,
    timeout: float = _SECONDS,
    follow_redirects: bool = False,
) -> bytes:
    """The whole request, as the edge reads it."""
    fields = [[name, str(value)] for name, value in (headers or {}).items()]
    body, kind = _body(content=content, data=data, json=json)
    if kind is not None and not any(name.lower() == "content-type" for name, _ in fields):
        fields.append(["Content-Type", kind])
    head = {
        "method": method.upper(),
        "url": _with_params(url, params),
        "headers": fields,
        "timeout": timeout,
        "redirects": _MOST_REDIRECTS if follow_redirects else 0,
    }
    return mediation.pack_head(head) + mediation.pack_body(body)


def _body(*, content: bytes | str | None, data: Mapping[str, Any] | None, json: Any) -> tuple[bytes, str | None]:
    if json is not None:
        return json_format.dumps(json, allow_nan=False).encode(), "application/json"
    if data is not None:
        return urlencode(data, doseq=True).encode(), "application/x-www-form-urlencoded"
    return (content.encode() if isinstance(content, str) else content or b""), None


def _with_params(url: str, params: Mapping[str, Any] | None) -> str:
    if not params:
        return url
    parts = urlsplit(url)
    query = "&".join(filter(None, (parts.query, urlencode(params, doseq=True))))
    return urlunsplit(parts._replace(query=query))


class BlockingHttp:
    """For a `def` tool."""

    def request(self, method: str, url: str, **options: Any) -> Response:
        with self.stream(method, url, **options) as streamed:
            streamed.content = b"".join(streamed.iter_bytes())
            return streamed

    @contextmanager
    def stream(self, method: str, url: str, **options: Any) -> Generator[StreamedResponse, None, None]:
        """The answer while it arrives: `for piece in response.iter_bytes()`."""
        made = socket.create_connection((mediation.EDGE_ADDRESS, mediation.EDGE_PORT))
        with made, made.makefile("rb") as pieces:
            made.sendall(_request(method, url, **options))
            head = mediation.read_head(_piece(pieces.read, most=mediation.MOST_HEAD))
            yield StreamedResponse(require_answer(head), read=pieces.read)

    def get(self, url: str, **options: Any) -> Response:
        return self.request("GET", url, **options)

    def head(self, url: str, **options: Any) -> Response:
        return self.request("HEAD", url, **options)

    def options(self, url: str, **options: Any) -> Response:
        return self.request("OPTIONS", url, **options)

    def post(self, url: str, **options: Any) -> Response:
        return self.request("POST", url, **options)

    def put(self, url: str, **options: Any) -> Response:
        return self.request("PUT", url, **options)

    def patch(self, url: str, **options: Any) -> Response:
        return self.request("PATCH", url, **options)

    def delete(self, url: str, **options: Any) -> Response:
        return self.request("DELETE", url, **options)


class StreamedResponse(Response):
    """An answer whose body is read by the tool."""

    def __init__(self, head: Mapping[str, Any], *, read: Any) -> None:
        super().__init__(head)
        self._read = read

    def iter_bytes(self) -> Iterator[bytes]:
        while piece := _piece(self._read, most=mediation.MOST_PIECE):
            yield piece


def _piece(read: Any, *, most: int) -> bytes:
    length = mediation.read_length(_exactly(read, mediation.LENGTH_BYTES), most=most)
    return _exactly(read, length)


def _exactly(read: Any, count: int) -> bytes:
    content: bytes = read(count)
    if len(content) < count:
        raise CallFailed(_CUT_SHORT)
    return content


class AwaitedHttp:
    """For an `async def` tool."""

    async def request(self, method: str, url: str, **options: Any) -> Response:
        async with self.stream(method, url, **options) as streamed:
            streamed.content = b"".join([piece async for piece in streamed.aiter_bytes()])
            return streamed

    @asynccontextmanager
    async def stream(self, method: str, url: str, **options: Any) -> AsyncGenerator[AwaitedResponse, None]:
        """The answer while it arrives: `async for piece in response.aiter_bytes()`."""
        reader, writer = await asyncio.open_connection(mediation.EDGE_ADDRESS, mediation.EDGE_PORT)
        try:
            writer.write(_request(method, url, **options))
            await writer.drain()
            head = mediation.read_head(await _awaited_piece(reader, most=mediation.MOST_HEAD))
            yield AwaitedResponse(require_answer(head), reader=reader)
        finally:
            writer.close()

    async def get(self, url: str, **options: Any) -> Response:
        return await self.request("GET", url, **options)

    async def head(self, url: str, **options: Any) -> Response:
        return await self.request("HEAD", url, **options)

    async def options(self, url: str, **options: Any) -> Response:
        return await self.request("OPTIONS", url, **options)

    async def post(self, url: str, **options: Any) -> Response:
        return await self.request("POST", url, **options)

    async def put(self, url: str, **options: Any) -> Response:
        return await self.request("PUT", url, **options)

    async def patch(self, url: str, **options: Any) -> Response:
        return await self.request("PATCH", url, **options)

    async def delete(self, url: str, **options: Any) -> Response:
        return await self.request("DELETE", url, **options)


class AwaitedResponse(Response):
    """An answer whose body is read by the tool."""

    def __init__(self, head: Mapping[str, Any], *, reader: asyncio.StreamReader) -> None:
        super().__init__(head)
        self._reader = reader

    async def aiter_bytes(self) -> AsyncIterator[bytes]:
        while piece := await _awaited_piece(self._reader, most=mediation.MOST_PIECE):
            yield piece


async def _awaited_piece(reader: asyncio.StreamReader, *, most: int) -> bytes:
    try:
        length = mediation.read_length(await reader.readexactly(mediation.LENGTH_BYTES), most=most)
        return await reader.readexactly(length)
    except asyncio.IncompleteReadError:
        raise CallFailed(_CUT_SHORT) from None
