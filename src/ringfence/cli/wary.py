"""What is not wrong and yet not as somebody meant it: patterns that match nothing, misfits, tools nobody accepted.

Takes: an open runtime and its config.  Gives: warnings, each with its place or its tool.  Never: stops anything.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

from ringfence.assembly import Config
from ringfence.contract.patterns import glob
from ringfence.registry.pins import Trust
from ringfence.runtime import Runtime


async def warnings_about(runtime: Runtime, *, config: Config) -> AsyncIterator[str]:
    """Everything worth a second look."""
    for warning in (*_idle_patterns(runtime, config=config), *_unaccepted(runtime)):
        yield warning
    for warning in (*_idle_on_bindings(runtime, config=config), *_nobody_to_write_to(runtime, config=config)):
        yield warning
    for agent in runtime.agents:
        place = config.locate(("agents", agent))
        for hidden in (await runtime.status(agent)).hidden:
            if hidden.reason in ("capability_misfit", "not_available") and _is_named(config, agent, hidden.tool):
                yield f"{place}: tool `{hidden.tool}` is hidden: {hidden.message}"


def _is_named(config: Config, agent: str, tool: str) -> bool:
    """Whether the agent was given this tool, and not merely everything that fits."""
    return any(glob(pattern)(tool) for pattern in config.agents[agent].allowed_tools)


def _idle_patterns(runtime: Runtime, *, config: Config) -> Iterator[str]:
    names = [tool.name for tool in runtime.tools]
    for agent in config.agents.values():
        for at, pattern in enumerate(agent.allowed_tools):
            if not any(map(glob(pattern), names)):
                place = config.locate(("agents", agent.name, "allowed_tools", at))
                yield f"{place}: `{pattern}` matches no registered tool"


def _idle_on_bindings(runtime: Runtime, *, config: Config) -> Iterator[str]:
    """A binding's pattern that leaves nothing in: it narrows what the agent sees, and adds nothing to it."""
    for agent in config.agents.values():
        allowed = agent.allowed_tools or ("*",)
        seen = [tool.name for tool in runtime.tools if any(glob(pattern)(tool.name) for pattern in allowed)]
        for number, binding in enumerate(agent.bindings):
            for at, pattern in enumerate(binding.allowed_tools):
                if not any(map(glob(pattern), seen)):
                    place = config.locate(("agents", agent.name, "bindings", number, "allowed_tools", at))
                    yield f"{place}: `{pattern}` matches no tool that the agent may see"


def _nobody_to_write_to(runtime: Runtime, *, config: Config) -> Iterator[str]:
    for agent in config.agents.values():
        for tool in runtime.tools:
            missing = sorted(channel for channel in tool.shape.recipients.marks if not agent.outbound.get(channel))
            if missing and _is_named(config, agent.name, tool.name):
                place, listed = config.locate(("agents", agent.name)), ", ".join(f"`{each}`" for each in missing)
                yield f"{place}: tool `{tool.name}` writes to {listed}, for which there is no `outbound_allowlist`"


def _unaccepted(runtime: Runtime) -> Iterator[str]:
    for tool in runtime.tools:
        if tool.quarantine:
            yield f"tool `{tool.name}` of {tool.source} is out of use: its contract differs from the accepted one"
    imported = [f"`{tool.name}`" for tool in runtime.tools if tool.trust is Trust.IMPORTED and not tool.quarantine]
    if imported:
        yield (
            f"nobody has accepted {', '.join(imported)}, so all but reading waits for a vote; "
            "review them, then `ringfence check --accept`"
        )
