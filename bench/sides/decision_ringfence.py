"""Ringfence's side of the decision bench.

Takes: 100 rules and one call that a model asked for.
Gives: `authorize` alone, and the whole decision path: `Pipeline.explain`, which opens the case, finds the tool in the
agent's view, parses and scans the arguments, resolves the grant and authorizes.  Never: approves, runs or records.

A rule book remembers which rules concern a tool of an agent; `unremembered` is `authorize` when it does not yet.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from bench.harness.worker import serve
from bench.sides.world import agent, pipeline_of, registry_of, request, rules_by_argument, rules_by_tool
from ringfence.policy.authorize import authorize
from ringfence.policy.rules import RuleBook

RULES = 100


def functions() -> dict[str, Callable[[], Any]]:
    registry = registry_of(RULES)
    asked = request(tool=RULES - 1)

    def pair(name: str, rules: RuleBook) -> dict[str, Callable[[], Any]]:
        pipeline = pipeline_of(registry, agents=[agent()], rules=rules)
        proposal = pipeline.explain(asked).proposal()
        return {
            f"authorize {name}": partial(authorize, proposal, rules=rules),
            f"unremembered {name}": lambda: authorize(proposal, rules=RuleBook(rules.rules)),
            f"decide {name}": partial(pipeline.explain, asked),
        }

    return {**pair("by_tool", rules_by_tool(RULES)), **pair("by_argument", rules_by_argument(RULES))}


if __name__ == "__main__":
    serve(functions())
