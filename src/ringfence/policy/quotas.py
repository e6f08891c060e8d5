"""What a call draws on before it starts: a token from every bucket whose pattern matches its tool.

Takes: an agent on a binding, and a tool.  Gives: the draws, all of which must succeed.
Never: lets a binding's map stand in for its agent's; it only adds to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ringfence.agents.acting import Acting
from ringfence.agents.rates import Rate, Rates
from ringfence.contract.patterns import GlobSet

# A session that is refused so often is one whose model goes in circles; it rests, and other sessions go on.
REFUSALS = Rate(count=30, seconds=60)
REST_SECONDS = 60


@dataclass(frozen=True, kw_only=True)
class Draw:
    """One token of one bucket; `binding` is empty for the agent's own."""

    agent: str
    binding: str
    pattern: str
    rate: Rate

    def document(self) -> dict[str, Any]:
        limit = {"count": self.rate.count, "seconds": self.rate.seconds}
        return {"agent": self.agent, "binding": self.binding or None, "pattern": self.pattern, **limit}


def draws_for(acting: Acting, *, tool: str) -> tuple[Draw, ...]:
    """Every bucket that a call of this tool draws on, the agent's own first."""
    agent, binding = acting.agent, acting.binding
    own = _matching(agent.rates, agent=agent.name, binding="", tool=tool)
    return own if binding is None else own + _matching(binding.rates, agent=agent.name, binding=binding.name, tool=tool)


def _matching(rates: Rates, *, agent: str, binding: str, tool: str) -> tuple[Draw, ...]:
    return tuple(
        Draw(agent=agent, binding=binding, pattern=pattern, rate=rate)
        for pattern, rate in rates.items()
        if GlobSet((pattern,)).matches(tool)
    )
