"""How the edge reaches the world: a resolver, a dialler, roots to trust, and pipes to splice through.

Takes: nothing by default; tests put their own resolver behind it.  Gives: the same for every call.
Never: holds anything of a call.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from functools import cached_property

from ringfence.edge.dial import Dial, dial
from ringfence.edge.inspect import client_side
from ringfence.edge.relay import Pipes
from ringfence.edge.resolve import Lookup, system_lookup


@dataclass(frozen=True, kw_only=True)
class Outside:
    """What all calls of one edge share, none of it theirs."""

    lookup: Lookup = system_lookup
    dial: Dial = dial
    pipes: Pipes = field(default_factory=Pipes)

    @cached_property
    def roots(self) -> ssl.SSLContext:
        """The roots are read once; they are some hundred certificates."""
        return client_side()
