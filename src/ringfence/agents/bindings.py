"""The channel that an agent acts on, and how much less it may do there.

Takes: an agent's `bindings:` lines.  Gives: frozen values; the name of one is `channel:instance`.
Never: adds anything; what a binding leaves out stays as the agent has it, what it writes down is an intersection.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from ringfence.agents.rates import Rate, Rates
from ringfence.agents.spending import SpendCap
from ringfence.contract.capabilities import Files, Network, Processes, Secrets

# Recipients by channel, as patterns; a channel without patterns, or not in it, has no recipients.
Outbound: TypeAlias = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, kw_only=True)
class Binding:
    """One channel instance. `None` narrows nothing, and so does an empty `allowed_tools`."""

    channel: str
    instance: str
    allowed_tools: tuple[str, ...] = ()
    network: Network | None = None
    secrets: Secrets | None = None
    files: Files | None = None
    processes: Processes | None = None
    outbound: Outbound | None = None
    rates: Rates = field(default_factory=dict[str, Rate])
    spend_caps: tuple[SpendCap, ...] = ()

    @property
    def name(self) -> str:
        return binding_name(self.channel, self.instance)


def binding_name(channel: str, instance: str) -> str:
    """The one spelling of a channel instance."""
    return f"{channel}:{instance}"
