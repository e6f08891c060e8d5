"""Where the URLs of the corpora lead, by each client's own idea of the host: to the listed host, or nowhere.

The data is not part of the project; `RINGFENCE_CORPORA` names its folder. Without it these tests have no rows.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest

from ringfence.contract.capabilities import Network
from ringfence.contract.hosts import allows
from ringfence.contract.safety import Egress
from ringfence.edge.names import Names
from ringfence.edge.resolve import Closed
from ringfence.edge.terms import Terms, destination

pytestmark = pytest.mark.req("NET-1", "NET-4")

CORPORA = Path(os.environ.get("RINGFENCE_CORPORA", "../shared/corpora"))
LISTED = ("example.com", "*.example.com", "whitelisted-domain.com", "github.com")


def _rows(file: str) -> Iterator[dict[str, Any]]:
    path = CORPORA / file
    if path.is_file():
        yield from map(json.loads, path.read_text(encoding="utf-8").splitlines())


def _urllib(url: str) -> tuple[str, int] | None:
    try:
        parts = urlsplit(url)
        return (parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))
    except ValueError:
        return None


def _urllib3(url: str) -> tuple[str, int] | None:
    urllib3 = pytest.importorskip("urllib3.util")
    try:
        parts = urllib3.parse_url(url)
    except Exception:
        return None
    return ((parts.host or "").strip("[]"), parts.port or (443 if parts.scheme == "https" else 80))


CLIENTS: tuple[Callable[[str], tuple[str, int] | None], ...] = (_urllib, _urllib3)


def _reached(host: str, port: int) -> str | None:
    """The host behind the connection that a client would get, by the steps libc, stub resolver and edge take."""
    network = Network(*LISTED)
    names = Names(network.hosts)
    try:
        address: str | None = str(socket.getaddrinfo(host, None, flags=socket.AI_NUMERICHOST)[0][4][0])
    except (OSError, UnicodeError, ValueError):
        address = names.ask(host).address
    if address is None:
        return None
    terms = Terms(network=network, egress=Egress.WRITE, way="opaque", idempotency_key="k")
    try:
        return destination(address, port=port, terms=terms, names=names).host
    except Closed:
        return None


def _urls() -> list[str]:
    found = [row["url"] for row in _rows("ssrf.jsonl")]
    for row in _rows("url_conformance.jsonl"):
        url = row.get("input") or row.get("url") or ""
        found.append(url)
        if row.get("base"):
            found += _joined(row["base"], url)
    found += [row["payload"]["url"] for row in _rows("agent_egress_bench.jsonl") if "url" in row.get("payload", {})]
    return found


def _joined(base: str, url: str) -> list[str]:
    try:
        return [urljoin(base, url)]
    except ValueError:
        return []


def test_no_url_of_the_corpora_leads_anywhere_but_to_a_listed_host() -> None:
    urls = _urls()
    astray = [
        (url, asked, reached)
        for url in urls
        for client in CLIENTS
        if (asked := client(url)) is not None
        and (reached := _reached(*asked)) is not None
        and not (allows(LISTED, asked[0], asked[1]) and allows(LISTED, reached, asked[1]))
    ]
    assert astray == []


def test_the_corpora_have_urls_that_do_lead_to_a_listed_host() -> None:
    urls = _urls()
    reaching = [url for url in urls if (asked := _urllib(url)) is not None and _reached(*asked) is not None]
    assert bool(reaching) == bool(urls)
