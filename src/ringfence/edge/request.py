"""One request of `ctx.http`, read as a stranger's.

Takes: JSON from a jail.  Gives: a `Request` whose every part was checked.
Never: lets a tool write the headers that frame a message or say for whom it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urljoin, urlsplit

import h11

from ringfence.contract.hosts import normalise_host
from ringfence.edge.resolve import Closed
from ringfence.errors import CallRefused
from ringfence.inside.mediation import Malformed

REDIRECTS = frozenset({301, 302, 303, 307, 308})
_KEEPS_METHOD = frozenset({307, 308})
_USUAL_PORTS = {"http": 80, "https": 443}
# The edge writes these itself: they say how long a message is, for whom, and what becomes of the connection.
_OWN_HEADERS = frozenset({
    "host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "keep-alive",
    "proxy-connection", "proxy-authorization", "http2-settings", "expect",
})  # fmt: skip
_OF_ONE_HOST = frozenset({"authorization", "cookie", "idempotency-key"})
_METHOD = re.compile(r"[A-Z]{1,32}")
_FIELD_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,256}")
_FIELD_VALUE = re.compile(r"[\x20-\x7e\x80-\xff\t]{0,32768}")
_TARGET = re.compile(r"[\x21-\x7e]{1,32768}")
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
_MOST_REDIRECTS = 20
_MOST_SECONDS = 3600.0


@dataclass(frozen=True, kw_only=True)
class Request:
    """What to ask of whom."""

    method: str
    scheme: str
    host: str
    port: int
    target: str
    fields: tuple[tuple[str, str], ...]
    body: bytes
    timeout: float
    redirects: int

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _USUAL_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.target}"

    def headers(self, *, key: str) -> list[tuple[str, str]]:
        """Everything that is sent, in order; a request that can change something carries the call's key."""
        authority = urlsplit(self.url).netloc
        given = {name.lower() for name, _ in self.fields}
        own = [("Host", authority), ("Connection", "close")]
        if "accept-encoding" not in given:
            own.append(("Accept-Encoding", "identity"))
        if self.method not in _SAFE_METHODS and "idempotency-key" not in given and key:
            own.append(("Idempotency-Key", key))
        if self.body or self.method not in _SAFE_METHODS:
            own.append(("Content-Length", str(len(self.body))))
        return [*own, *self.fields]


def read_request(head: dict[str, Any], *, body: bytes) -> Request:
    """The request in a head from the jail; `Malformed` or `Closed` where it is none."""
    method, url, timeout = head.get("method"), head.get("url"), head.get("timeout")
    if not isinstance(method, str) or not _METHOD.fullmatch(method) or method == "CONNECT":
        raise Malformed("a request without a method")
    if not isinstance(url, str):
        raise Malformed("a request without a URL")
    if not isinstance(timeout, int | float) or not 0 < timeout <= _MOST_SECONDS:
        raise Malformed("a request without a time-out")
    redirects = head.get("redirects")
    if not isinstance(redirects, int) or not 0 <= redirects <= _MOST_REDIRECTS:
        raise Malformed("a request without a number of redirects")
    scheme, host, port, target = _split(url)
    return Request(
        method=method,
        scheme=scheme,
        host=host,
        port=port,
        target=target,
        fields=_fields(head.get("headers")),
        body=body,
        timeout=float(timeout),
        redirects=redirects,
    )


def redirected(request: Request, response: h11.Response) -> Request | None:
    """The request that a redirect asks for; None where it names no place."""
    places = [value.decode("latin-1") for name, value in response.headers if name == b"location"]
    if len(places) != 1:
        return None
    scheme, host, port, target = _split(urljoin(request.url, places[0]))
    onward = replace(request, scheme=scheme, host=host, port=port, target=target)
    if response.status_code not in _KEEPS_METHOD and request.method not in _SAFE_METHODS:
        onward = replace(onward, method="GET", body=b"")
    if (scheme, host, port) != (request.scheme, request.host, request.port):
        kept = tuple(field for field in onward.fields if field[0].lower() not in _OF_ONE_HOST)
        onward = replace(onward, fields=kept)
    return onward


def _split(url: str) -> tuple[str, str, int, str]:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise Closed("a URL that cannot be read") from None
    scheme = parts.scheme.lower()
    if scheme not in _USUAL_PORTS:
        raise Closed("a URL that is neither `http` nor `https`")
    if parts.username is not None or parts.password is not None or "\\" in url or not url.isprintable() or " " in url:
        raise Closed("a URL with a user, a backslash, or white space")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if not _TARGET.fullmatch(target) or not target.startswith("/"):
        raise Closed("a URL whose path is not plain ASCII")
    try:
        host = normalise_host(parts.hostname or "")
    except CallRefused as refused:
        raise Closed(refused.message) from None
    return scheme, host, port or _USUAL_PORTS[scheme], target


def _fields(given: Any) -> tuple[tuple[str, str], ...]:
    match given:
        case [*pairs]:
            return tuple(map(_field, pairs))
        case _:
            raise Malformed("headers that are no list")


def _field(pair: Any) -> tuple[str, str]:
    match pair:
        case [str(name), str(value)]:
            pass
        case _:
            raise Malformed("headers that are no list of pairs")
    if not _FIELD_NAME.fullmatch(name) or not _FIELD_VALUE.fullmatch(value):
        raise Malformed("a header that cannot be sent")
    if name.lower() in _OWN_HEADERS:
        raise Closed(f"the header `{name}` is the edge's to write")
    return name, value
