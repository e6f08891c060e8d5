"""What every part of the edge knows of the call it works for.

Takes: nothing.  Gives: the type.  Never: reaches another call.
"""

from __future__ import annotations

import asyncio
import socket
from typing import Protocol, TypeAlias

from ringfence.edge.authority import Authority
from ringfence.edge.ledger import Ledger
from ringfence.edge.names import Names
from ringfence.edge.outside import Outside
from ringfence.edge.resolve import Closed, Resolver
from ringfence.edge.stub import Answers
from ringfence.edge.terms import Destination, Terms
from ringfence.inside.mediation import EDGE_ADDRESS, EDGE_PORT
from ringfence.inside.ways import RESOLVER_ADDRESS, RESOLVER_PORT

Dialled: TypeAlias = tuple[str, int]

# The two places that are the edge's own in every jail.
EDGE: Dialled = (EDGE_ADDRESS, EDGE_PORT)
RESOLVER: Dialled = (RESOLVER_ADDRESS, RESOLVER_PORT)


class OfCall(Protocol):
    """One call's terms, names and ledger."""

    terms: Terms
    authority: Authority | None
    outside: Outside
    ledger: Ledger
    names: Names
    resolver: Resolver
    answers: Answers


async def dial_checked(leads_to: Destination, *, call: OfCall) -> socket.socket:
    """Resolve, check every address, and connect to one of them."""
    try:
        async with asyncio.timeout(call.terms.bounds.connect_seconds):
            addresses = await call.resolver.addresses(leads_to.host, port=leads_to.port)
            return await call.outside.dial(addresses, leads_to.port)
    except TimeoutError:
        raise Closed(f"{leads_to} does not answer in time", code="tool_error") from None
