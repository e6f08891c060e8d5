"""CALL-3: a decision costs the same among many tools and many agents as among few.

Takes: registries of 10 and 10,000 tools, runtimes of 1 and 1,000 agents.  Gives: rows, each beside its smaller self.
Never: asks only for what was asked for last; calls go round every tool or every agent.

Timed is the whole decision path, `Pipeline.explain`, with every view built before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import cycle

from bench.harness.rounds import round_robin
from bench.harness.rows import Row, at_most
from bench.harness.samples import Samples, duration
from bench.harness.sides import Local
from bench.sides.world import agent, pipeline_of, registry_of, request, rules_by_tool
from ringfence.agents.profile import Agent
from ringfence.agents.view import build_view
from ringfence.registry.registry import Registry
from ringfence.runtime.request import CallRequest

FEW_TOOLS, MANY_TOOLS, MANY_AGENTS, RULES, VIEWS = 10, 10_000, 1_000, 100, 10


def measure() -> Iterator[Row]:
    few, many = registry_of(FEW_TOOLS), registry_of(MANY_TOOLS)
    one, crowd = [agent()], [agent(number) for number in range(MANY_AGENTS)]
    sides = [
        _deciding(few, one, name="few tools", requests=_each_tool(FEW_TOOLS)),
        _deciding(many, one, name="many tools", requests=_each_tool(MANY_TOOLS)),
        _deciding(few, one, name="one agent", requests=_each_agent(1)),
        _deciding(few, crowd, name="many agents", requests=_each_agent(MANY_AGENTS)),
    ]
    taken = round_robin(sides)
    yield _row(taken, f"decide among {MANY_TOOLS:,} tools", many="many tools", few="few tools")
    yield _row(taken, f"decide among {MANY_AGENTS:,} agents", many="many agents", few="one agent")
    yield _views(few, many)


def _row(taken: dict[str, Samples], what: str, *, many: str, few: str) -> Row:
    return Row(
        id="CALL-3",
        what=f"{what}, Pipeline.explain()",
        baseline=f"{FEW_TOOLS} tools" if few == "few tools" else "1 agent",
        goal=at_most(1.2),
        measured=taken[many].p50 / taken[few].p50,
        detail=f"{many} {taken[many]}; {few} {taken[few]}",
    )


def _views(few: Registry, many: Registry) -> Row:
    """A view is built once for each agent; its cost per tool should not grow."""
    sides = [
        Local(name="few", function=partial(build_view, few, agent=agent())),
        Local(name="many", function=partial(build_view, many, agent=agent())),
    ]
    turns = [(sides[0].times(1), sides[1].times(1)) for _ in range(VIEWS)]
    small = Samples.of(times[0] for times, _ in turns)
    large = Samples.of(times[0] for _, times in turns)
    return Row(
        id="CALL-3",
        what=f"build a view of {MANY_TOOLS:,} tools, per tool",
        baseline=f"{FEW_TOOLS} tools, per tool",
        goal=None,
        measured=(large.p50 / MANY_TOOLS) / (small.p50 / FEW_TOOLS),
        detail=f"once for each agent: {duration(large.p50)} and {duration(small.p50)}",
    )


def _deciding(registry: Registry, agents: Sequence[Agent], *, name: str, requests: Sequence[CallRequest]) -> Local:
    """The decision path over these requests in turn, each asked for once before."""
    pipeline = pipeline_of(registry, agents=agents, rules=rules_by_tool(RULES))
    for asked in requests:
        pipeline.explain(asked)
    following, explain = cycle(requests), pipeline.explain
    return Local(name=name, function=lambda: explain(next(following)))


def _each_tool(tools: int) -> list[CallRequest]:
    return [request(tool=number) for number in range(tools)]


def _each_agent(agents: int) -> list[CallRequest]:
    return [request(tool=number % FEW_TOOLS, agent=number) for number in range(agents)]
