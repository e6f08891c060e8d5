"""TLS on both sides of the edge: as the host towards the jail, as an ordinary client towards the host.

Takes: a jail's authority and a destination.  Gives: two ends whose bytes the edge can read.
Never: talks to a server whose certificate this machine's own roots do not vouch for; there is no option not to check.
"""

from __future__ import annotations

import asyncio
import socket
import ssl

from ringfence.edge.authority import Authority
from ringfence.edge.ends import StreamEnd
from ringfence.edge.resolve import Closed
from ringfence.edge.terms import Destination

_LIMIT = 1 << 20
_HANDSHAKE_SECONDS = 15.0


def client_side() -> ssl.SSLContext:
    """A client that trusts the roots of this machine's OpenSSL, and checks the name."""
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context


async def verified(plain: socket.socket, *, destination: Destination, context: ssl.SSLContext) -> StreamEnd:
    """A TLS connection to the real host over a connected socket, its certificate verified."""
    try:
        reader, writer = await asyncio.open_connection(
            sock=plain,
            ssl=context,
            server_hostname=destination.host,
            limit=_LIMIT,
            ssl_handshake_timeout=_HANDSHAKE_SECONDS,
        )
    except ssl.SSLCertVerificationError as failure:
        raise Closed(f"the certificate of {destination} was refused: {failure.verify_message}") from None
    except (ssl.SSLError, OSError, TimeoutError) as failure:
        raise Closed(f"no TLS with {destination}: {type(failure).__name__}", code="tool_error") from None
    return StreamEnd(reader, writer)


async def impersonated(plain: socket.socket, *, destination: Destination, authority: Authority) -> StreamEnd:
    """The jail's connection, answered as the host that it dialled, if that is whom its hello names."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=_LIMIT, loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    try:
        transport, _ = await loop.connect_accepted_socket(
            lambda: protocol,
            plain,
            ssl=authority.server_side(destination.host),
            ssl_handshake_timeout=_HANDSHAKE_SECONDS,
        )
    except (ssl.SSLError, OSError, TimeoutError) as failure:
        other = authority.names_refused.pop(destination.host, None)
        if other is not None:
            raise Closed(f"a TLS connection to {destination} asks for {other}") from None
        raise Closed(
            f"the tool broke off TLS with {destination}: {type(failure).__name__}", code="tool_error"
        ) from None
    return StreamEnd(reader, asyncio.StreamWriter(transport, protocol, reader, loop))
