"""Every key of `ringfence.yaml`, on one page: its shape, its meaning, its default.

Takes: nothing.  Gives: `FILE`, the shape of the whole file.  Never: knows a key that nothing obeys.
"""

from __future__ import annotations

from typing import Any

from ringfence.agents.spending import PERIODS
from ringfence.assembly.config import texts
from ringfence.assembly.config.shape import Key, Listing, Named, Number, Open, Record, Shape, Text, Word
from ringfence.contract.bounds import SAFE_INTEGER
from ringfence.policy.addresses import address_pattern
from ringfence.policy.conditions import compile_conditions
from ringfence.policy.decision import Decision

ROLES = ("approver", "operator", "viewer")
MODES = ("enforce", "shadow")
SANDBOXES = ("deny", "local")
POSTURES = ("full", "confined")
CODE_CHANGES = ("record", "strict")
_DECISIONS = tuple(decision.word for decision in Decision)
_MOST = float(SAFE_INTEGER)


def _section(shape: Shape, means: str) -> Key:
    return Key(shape=shape, means=means, default={})


def _needed(shape: Shape, means: str) -> Key:
    return Key(shape=shape, means=means, required=True)


def _list(item: Text, means: str) -> Key:
    return Key(shape=Listing(item=item), means=means, default=())


def _records(item: Record, means: str) -> Key:
    return Key(shape=Listing(item=item), means=means, default=())


def _path(default: str, means: str) -> Key:
    return Key(shape=texts.HOST_PATH, means=means, default=default)


def _globs(item: Text, means: str) -> Key:
    return Key(shape=Listing(item=item, least=1, single=True), means=means)


def _whole(default: int, means: str, *, least: int = 1) -> Key:
    return Key(shape=Number(least=least, most=_MOST), means=means, default=default)


def _seconds(default: int, means: str) -> Key:
    return Key(shape=Number(least=0.001, most=_MOST, fraction=True), means=means, default=default)


def _price(means: str) -> Key:
    return Key(shape=Number(least=0, most=1_000_000, fraction=True), means=means, default=0)


def _condition(argument: str, operators: Any) -> None:
    compile_conditions({argument: operators})


def _recipients(channel: str, patterns: Any) -> None:
    for pattern in patterns:
        if isinstance(pattern, str):
            address_pattern(pattern, channel=channel)


def _narrows(shape: Shape, means: str) -> Key:
    return Key(shape=shape, means=means)


TOOLS = Record(keys={
    "modules": _list(texts.MODULE, "Python modules whose `@tool` functions are registered"),
    "folders": _list(texts.HOST_PATH, "folders with a `TOOL.md` and a program in any language, or folders of such"),
    "path": _list(texts.HOST_PATH, "folders in which those modules are looked for"),
})  # fmt: skip

_CODE = "`strict` holds back a tool whose source changed"
PINS = Record(keys={"code": Key(shape=Word(choices=CODE_CHANGES), means=_CODE, default="record")})

PERSON = Record(keys={
    "roles": _needed(Listing(item=Word(choices=ROLES)), "what the person may do"),
    "groups": _list(texts.NAME, "groups that an approval route can ask for"),
})  # fmt: skip

NETWORK = Record(keys={
    "allow": _list(texts.HOST, "hosts the agent's tools may reach; an empty list is none"),
    "private": _list(texts.PRIVATE_ADDRESS, "private addresses, each with its port, that the floor lets through"),
    "cidrs": _list(texts.CIDR, "networks the agent's tools may reach by address"),
})  # fmt: skip

FILES = Record(keys={
    "read": _list(texts.RELATIVE_PATH, "paths below the workspace that may be read"),
    "write": _list(texts.RELATIVE_PATH, "paths below the workspace that may be written"),
})  # fmt: skip

SECRET_PERMITS = Record(keys={"allow": _list(texts.SECRET_NAME, "secrets the agent's tools may use, by name")})
BINARIES = Record(keys={"allow": _list(texts.BINARY, "binaries the agent's tools may start")})

OUTBOUND = Named(name=texts.CHANNEL, value=Listing(item=texts.RECIPIENT), check=_recipients)

RATES = Named(name=texts.TOOL_GLOB, value=texts.RATE)

SPEND_CAP = Record(keys={
    "tools": _needed(texts.TOOL_GLOB, "tools that the cap concerns"),
    "most": _needed(Number(least=0, most=9_000_000_000, fraction=True), "the most that their calls may spend"),
    "per": _needed(Word(choices=tuple(PERIODS)), "in any such time; a month is 30 days"),
    "amount": Key(shape=texts.ARGUMENT, means="the argument that says how much a call spends; left out: what it costs"),
    "unit": _section(Named(name=texts.ARGUMENT, value=texts.ANY_TEXT), "arguments that must say just this, like `EUR`"),
})  # fmt: skip

BINDING = Record(keys={
    "channel": _needed(texts.CHANNEL, "the kind of channel"),
    "instance": _needed(texts.INSTANCE, "which one of its kind; with the channel, an account under `accounts`"),
    "allowed_tools": _list(texts.TOOL_GLOB, "tools that stay visible here; `[]`: all that the agent may see"),
    "network": _narrows(NETWORK, "hosts that stay reachable here; left out: all of the agent's"),
    "files": _narrows(FILES, "paths that stay reachable here; left out: all of the agent's"),
    "secrets": _narrows(SECRET_PERMITS, "secrets that stay usable here; left out: all of the agent's"),
    "processes": _narrows(BINARIES, "binaries that stay startable here; left out: all of the agent's"),
    "outbound_allowlist": _narrows(OUTBOUND, "recipients that stay allowed here; left out: all of the agent's"),
    "tool_rate_limits": _section(RATES, "how often tools may be called here, beside the agent's own limits"),
    "spend_caps": _records(SPEND_CAP, "how much may be spent here, beside the agent's own caps"),
})  # fmt: skip

AGENT = Record(keys={
    "owner": Key(shape=texts.NAME, means="the person answerable for the agent, who never votes on its calls"),
    "allowed_tools": _needed(Listing(item=texts.TOOL_GLOB), "tools the agent may see; `[]` is every one that fits"),
    "workspace": Key(shape=texts.HOST_PATH, means="the agent's own folder; left out: `work/<agent>` beside the store"),
    "network": _section(NETWORK, "where the agent's tools may connect"),
    "files": _section(FILES, "what the agent's tools may open"),
    "secrets": _section(SECRET_PERMITS, "which secrets the agent's tools may use"),
    "processes": _section(BINARIES, "what the agent's tools may start"),
    "outbound_allowlist": _section(OUTBOUND, "whom its tools may write to, by channel; no list is nobody"),
    "tool_rate_limits": _section(RATES, "how often tools may be called, by name or pattern; every match counts"),
    "spend_caps": _records(SPEND_CAP, "how much may be spent; every cap that matches counts"),
    "profile": Key(shape=texts.NAME, means="a profile under `profiles` that tightens what the agent may call"),
    "bindings": _records(BINDING, "channels the agent acts on; each narrows, and none is wider than the agent"),
})  # fmt: skip

MATCH = Record(least=1, keys={
    "tool": _globs(texts.TOOL_GLOB, "tools the rule concerns"),
    "agent": _globs(texts.AGENT_GLOB, "agents the rule concerns"),
    "binding": _globs(texts.BINDING_GLOB, "channels the rule concerns"),
    "class": _globs(texts.CLASS_GLOB, "safety classes the rule concerns"),
    "egress": _globs(texts.EGRESS_GLOB, "egress classes the rule concerns"),
})  # fmt: skip

EXAMPLE = Record(keys={
    "tool": _needed(texts.NAME, "the tool that is called"),
    "agent": Key(shape=texts.NAME, means="the agent that calls it"),
    "binding": Key(shape=texts.ANY_TEXT, means="the channel it is called on"),
    "args": _section(Named(name=texts.ANY_TEXT, value=Open()), "the arguments"),
})  # fmt: skip

_CONDITIONS = Named(name=texts.ARGUMENT, value=Open(), check=_condition)

RULE = Record(keys={
    "id": Key(shape=texts.NAME, means="a name for the rule, used once"),
    "match": _needed(MATCH, "which calls the rule concerns; every field given must match"),
    "when": _section(_CONDITIONS, "conditions on arguments; all must hold, and an absent argument makes its own hold"),
    "decision": _needed(Word(choices=_DECISIONS), "the least that the call then needs"),
    "because": _needed(texts.BECAUSE, "the reason, as approvers and audit show it"),
    "mode": Key(shape=Word(choices=MODES), means="`shadow` only reports what it would have done", default="enforce"),
    "holds": _records(EXAMPLE, "calls the rule must hold for; checked when the file loads"),
    "not_holds": _records(EXAMPLE, "calls the rule must not hold for"),
})  # fmt: skip

ROUTE = Record(keys={"group": _needed(texts.NAME, "only approvers of this group may vote")})
ROUTES = Record(keys={
    "human": Key(shape=ROUTE, means="who votes where one vote is needed; left out: every approver"),
    "dual": Key(shape=ROUTE, means="who votes where two votes are needed; left out: every approver"),
})  # fmt: skip

_GROUPS = Named(name=texts.NAME, value=Listing(item=texts.TOOL_GLOB, least=1))

PROFILE = Record(keys={
    "allow": Key(shape=Listing(item=texts.TOOL_OR_GROUP), means="if given, every other tool is denied"),
    "deny": _list(texts.TOOL_OR_GROUP, "tools that are denied, also where `allow` has them"),
    "requires_approval": _list(texts.TOOL_OR_GROUP, "tools that need a vote"),
    "groups": _section(_GROUPS, "tools under one name, for the lists above: `group:<name>`"),
})  # fmt: skip

ACCOUNT = Record(keys={
    "agents": _needed(Listing(item=texts.NAME), "agents that may act with it"),
    "credential": Key(shape=texts.SECRET_NAME, means="the secret it signs in with; left out: none is needed"),
})  # fmt: skip

_INSTANCES = Named(name=texts.INSTANCE, value=ACCOUNT)

APPROVALS = Record(keys={
    "expire": Key(shape=texts.DURATION, means="how long a call waits for votes; then it is refused", default="24h"),
    "routes": _section(ROUTES, "which group votes"),
})  # fmt: skip

AWS_SECRET = Record(keys={
    "secret": _needed(texts.PLACE, "the name or ARN of the secret"),
    "field": Key(shape=texts.PLACE, means="the field to take where the secret is JSON; left out: all of it"),
    "region": Key(shape=texts.PLACE, means="the region; left out: as the AWS SDK finds it"),
})  # fmt: skip

VAULT_SECRET = Record(keys={
    "path": _needed(texts.PLACE, "the path within the key-value engine, version 2"),
    "field": _needed(texts.PLACE, "the field that holds the value"),
    "mount": Key(shape=texts.PLACE, means="where the engine is mounted", default="secret"),
})  # fmt: skip

_ARGV = Listing(item=texts.ARGUMENT_WORD, least=1)
SECRET = Record(least=1, most=1, keys={
    "env": Key(shape=texts.VARIABLE, means="the environment variable that holds the value"),
    "file": Key(shape=texts.HOST_PATH, means="the file that holds the value, readable by its owner alone"),
    "directory": Key(shape=texts.HOST_PATH, means="a folder with a private file of the secret's own name"),
    "command": Key(shape=_ARGV, means="a program that prints the value, and its arguments; no shell reads them"),
    "keyring": Key(shape=texts.PLACE, means="the service in this login's keyring; the entry is the secret's name"),
    "aws": Key(shape=AWS_SECRET, means="a secret in AWS Secrets Manager"),
    "vault": Key(shape=VAULT_SECRET, means="a secret in HashiCorp Vault; not tested against a real one"),
    "account": Key(shape=texts.CHANNEL, means="a channel: the credential of the account that a call acts with there"),
})  # fmt: skip

LIMITS = Record(keys={
    "wall_seconds": _seconds(30, "how long a call may take"),
    "cpu_seconds": _seconds(5, "how much processor time it may use"),
    "memory_mb": _whole(256, "how much memory it may use"),
    "pids": _whole(64, "how many processes and threads it may have"),
    "disk_mb": _whole(64, "how much scratch space it may fill"),
    "output_kb": _whole(1024, "how long its reply may be"),
})  # fmt: skip

POOL = Record(
    keys={
        "spares": Key(
            shape=Number(least=0, most=64),
            means="processes that at most wait for the next call of a jail; one for each call it had, 0 for none",
            default=4,
        )
    }
)

_LEAST = "the least posture in which tools run; a tool can require more"
SANDBOX = Record(keys={
    "kind": Key(shape=Word(choices=SANDBOXES), means="`deny` runs nothing", default="deny"),
    "env": _list(texts.VARIABLE, "environment variables that tools see"),
    "posture": Key(shape=Word(choices=POSTURES), means=_LEAST, default="confined"),
    "limits": _section(LIMITS, "the most that one call may use; a tool can ask for less"),
    "pool": _section(POOL, "how jails are kept ready"),
})  # fmt: skip

STORAGE = Record(keys={
    "value_kb": Key(shape=Number(least=1, most=1024), means="how long one value may be; at most 1024", default=256),
    "rows": _whole(10_000, "how many rows a tool, a session or an agent may keep in its own scope"),
    "scope_kb": _whole(16_384, "how much all of these may come to, keys and values"),
    "agent_kb": _whole(262_144, "how much an agent may keep in all scopes together"),
})  # fmt: skip

COST = Record(keys={
    "call": _price("what a call costs by itself"),
    "cpu_second": _price("what a second of processor time costs"),
    "wall_second": _price("what a second of a call costs, whatever it does"),
    "gib_out": _price("what a GiB sent through the edge costs"),
    "gib_in": _price("what a GiB received through the edge costs"),
})  # fmt: skip

STORE = Record(keys={
    "url": Key(shape=texts.STORE_URL, means="where calls, approvals and audit are kept", default="sqlite:///state/ringfence.db"),
})  # fmt: skip

AUDIT = Record(keys={
    "anchor": _path("state/anchor.log", "the file that remembers the trail's end, best kept on another disk"),
    "retention": Key(shape=texts.RETENTION, means="how long the bodies of calls are kept at least; left out: for good"),
    "signing_key": _path("state/audit.key", "the key that signs checkpoints, readable by its owner alone"),
})  # fmt: skip

POLICY = Record(keys={"rules": _records(RULE, "each adds a reason; the strictest reason wins")})

FILE = Record(keys={
    "version": _needed(Number(least=1, most=1), "the version of this format: 1"),
    "tools": _section(TOOLS, "where tools come from"),
    "pins": _section(PINS, "what a changed tool means"),
    "people": _section(Named(name=texts.NAME, value=PERSON), "who may approve and operate"),
    "accounts": _section(Named(name=texts.CHANNEL, value=_INSTANCES), "channel instances, and who may act with each"),
    "agents": _section(Named(name=texts.NAME, value=AGENT), "who acts, and what each may reach at most"),
    "profiles": _section(Named(name=texts.NAME, value=PROFILE), "named lists that tighten what agents may call"),
    "policy": _section(POLICY, "what needs a vote, and what is denied"),
    "approvals": _section(APPROVALS, "how votes are given"),
    "secrets": _section(Named(name=texts.SECRET_NAME, value=SECRET), "where each secret's value is found"),
    "sandbox": _section(SANDBOX, "what runs the tools; left out: nothing runs"),
    "storage": _section(STORAGE, "how much tools may keep with `ctx.storage`"),
    "cost": _section(COST, "prices, in one unit of your own, by which a call's cost is estimated"),
    "store": _section(STORE, "where state is kept"),
    "audit": _section(AUDIT, "how the trail is guarded"),
})  # fmt: skip
