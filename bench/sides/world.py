"""A made-up company to measure in: tools as values, agents, rules, and the pipeline that decides over them.

Takes: how many of each.  Gives: registries, rule books, pipelines.  Never: runs a tool; none stands behind a contract.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from ringfence.agents.profile import Agent, Permits
from ringfence.approvals.people import Electorate
from ringfence.audit.sealing import KEY_BYTES, Seal
from ringfence.contract.capabilities import Network
from ringfence.contract.limits import Limits
from ringfence.contract.safety import Egress, Safety
from ringfence.contract.tool import Tool
from ringfence.execution.sandbox import DenyAllSandbox
from ringfence.policy.decision import Decision
from ringfence.policy.rules import Rule, RuleBook, compile_rule
from ringfence.registry.pins import Ledger, Offered
from ringfence.registry.registry import Registry, register
from ringfence.runtime.ledger import Board
from ringfence.runtime.parts import Parts, Rulings, Store
from ringfence.runtime.pipeline import Pipeline
from ringfence.runtime.request import CallRequest, Identity

ARGUMENTS: dict[str, Any] = {
    "customer": "c-1042",
    "amount": 50,
    "note": "Called back on Tuesday; wants the invoice resent.",
}

_INPUT = {
    "type": "object",
    "title": "update_input",
    "properties": {
        "customer": {"type": "string", "maxLength": 200},
        "amount": {"type": "integer", "minimum": 0, "maximum": 100_000},
        "note": {"type": "string", "maxLength": 8192},
    },
    "required": ["customer", "amount"],
    "additionalProperties": False,
    "maxProperties": 1000,
}


def tool_name(number: int) -> str:
    return f"crm_update_{number}"


def agent_name(number: int) -> str:
    return f"agent_{number}"


def contract(number: int) -> Tool:
    """A tool that writes and leaves the machine, so that every floor and the grant have work to do."""
    return Tool(
        name=tool_name(number),
        description="Update one customer's record.",
        version="1",
        input_schema=_INPUT,
        output_schema={"type": "string", "maxLength": 200},
        safety=Safety.WRITE,
        egress=Egress.WRITE,
        idempotency="optional",
        needs=(Network("api.crm.example"),),
        approval="auto",
        retry=None,
        limits=Limits(),
        available=(),
        output="untrusted",
        labels=(),
        posture="confined",
        reconciles=False,
        far_side_dedupes=False,
    )


def registry_of(tools: int) -> Registry:
    offers = (
        Offered(tool=contract(number), source="code", source_digest="sha256:0", accepted_by="first_load")
        for number in range(tools)
    )
    return register(offers, ledger=Ledger())


def agent(number: int = 0) -> Agent:
    permits = Permits(network=Network("*.crm.example", "api.mail.example"))
    return Agent(name=agent_name(number), owner="carol", allowed_tools=("crm_*",), permits=permits, workspace="work")


def rules_by_tool(count: int) -> RuleBook:
    """One rule for each of so many tools."""
    return RuleBook(_rule(match={"tool": (tool_name(number),)}, when={}) for number in range(count))


def rules_by_argument(count: int) -> RuleBook:
    """So many rules that concern every tool, each with a bound on an argument, none of which is reached."""
    return RuleBook(_rule(match={"tool": ("*",)}, when={"args.amount": {"gt": 1000 + n}}) for n in range(count))


def _rule(*, match: dict[str, tuple[str, ...]], when: dict[str, Any]) -> Rule:
    return compile_rule(
        match=match, when=when, decision=Decision.APPROVE, because="reviewed", mode="enforce", examples=()
    )


def pipeline_of(registry: Registry, *, agents: Iterable[Agent], rules: RuleBook) -> Pipeline:
    """A pipeline that can explain: it decides, and has no store to write to and no jail to run in."""
    rulings = Rulings(
        agents={each.name: each for each in agents},
        rules=rules,
        electorate=Electorate(people={}, groups={}),
        limits=Limits(),
        approval_lifetime=timedelta(hours=24),
        config_digest="sha256:0",
    )
    store = cast("Store", None)
    parts = Parts(
        board=Board(registry, book=store, code="record"),
        rulings=rulings,
        store=store,
        sandbox=DenyAllSandbox(),
        seal=Seal(bytes(KEY_BYTES)),
        now=lambda: datetime.now(UTC),
        existing=frozenset(),
    )
    return Pipeline(parts)


def request(*, tool: int, agent: int = 0) -> CallRequest:
    identity = Identity(session="s", agent=agent_name(agent), binding=None, user="alice", typed_by="alice")
    return CallRequest(identity=identity, tool=tool_name(tool), arguments=ARGUMENTS, turn="1", idempotency_key=None)
