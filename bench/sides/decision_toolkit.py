"""The Agent Governance Toolkit's side of the decision bench: `agent_os.policies.PolicyEvaluator.evaluate`.

Takes: as many rules as Ringfence gets, saying the same things, and the same call.
Gives: its evaluation with the deciding rule first, last, and with no rule that holds.  Never: loads Ringfence.

The toolkit has a second engine, `agentmesh.governance.PolicyEngine`; it was several times slower, so it is not the one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from typing import Any

from bench.harness.worker import serve

RULES = 100

CONTEXT = {
    "tool_name": f"crm_update_{RULES - 1}",
    "agent": "agent_0",
    "class": "write",
    "egress": "write",
    "customer": "c-1042",
    "amount": 50,
    "note": "Called back on Tuesday; wants the invoice resent.",
}


def functions() -> dict[str, Callable[[], Any]]:
    by_tool = [("tool_name", "eq", f"crm_update_{number}") for number in range(RULES)]
    by_argument = [("amount", "gt", 1000 + number) for number in range(RULES)]
    return {
        "evaluate by_tool": _evaluate(by_tool),
        "evaluate by_tool, first": _evaluate(reversed(by_tool)),
        "evaluate by_argument": _evaluate(by_argument),
    }


def _evaluate(conditions: Iterable[tuple[str, str, Any]]) -> Callable[[], Any]:
    policies = import_module("agent_os.policies")
    rules = [
        {
            "name": f"rule_{number}",
            "condition": {"field": field, "operator": operator, "value": value},
            "action": "deny",
            "message": "reviewed",
        }
        for number, (field, operator, value) in enumerate(conditions)
    ]
    document = policies.PolicyDocument.model_validate(
        {"name": "bench", "rules": rules, "defaults": {"action": "allow"}}
    )
    return partial(policies.PolicyEvaluator([document]).evaluate, CONTEXT)


if __name__ == "__main__":
    serve(functions())
