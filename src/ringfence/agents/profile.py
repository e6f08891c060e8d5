"""Who acts, who answers for it, and what it may reach at most.

Takes: the agent's lines of the config file.  Gives: frozen values.  Never: widens what a tool declared.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ringfence.agents.bindings import Binding, Outbound
from ringfence.agents.rates import Rate, Rates
from ringfence.agents.spending import SpendCap
from ringfence.contract.capabilities import Capability, Files, FromAgent, Network, Processes, Secrets, Storage

_OWN_STORAGE = (Storage("tool"), Storage("session"), Storage("agent"))


@dataclass(frozen=True, kw_only=True)
class Permits:
    """The most an agent may reach, per category; an empty one permits nothing.

    Storage is always the agent's own: its namespace is derived from the agent, so there is nothing to list.
    """

    network: Network = field(default_factory=Network)
    secrets: Secrets = field(default_factory=Secrets.permit)
    files: Files = field(default_factory=Files)
    processes: Processes = field(default_factory=Processes)
    storage: tuple[Storage, ...] = _OWN_STORAGE

    def on(self, binding: Binding) -> Permits:
        """What is left where a binding must agree too."""
        return Permits(
            network=self.network if binding.network is None else self.network.narrowed_by(binding.network),
            secrets=self.secrets if binding.secrets is None else self.secrets.intersect(binding.secrets),
            files=self.files if binding.files is None else self.files.intersect(binding.files),
            processes=self.processes if binding.processes is None else self.processes.intersect(binding.processes),
            storage=self.storage,
        )


@dataclass(frozen=True, kw_only=True)
class Agent:
    """One agent: its owner, its allowlist of tools, its permits, its recipients and the channels it acts on."""

    name: str
    owner: str | None
    allowed_tools: tuple[str, ...]
    permits: Permits
    workspace: str
    outbound: Outbound = field(default_factory=dict[str, tuple[str, ...]])
    profile: str | None = None
    rates: Rates = field(default_factory=dict[str, Rate])
    spend_caps: tuple[SpendCap, ...] = ()
    bindings: tuple[Binding, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CapabilityValidationError:
    """A tool needs what the agent's policy does not give. Data, to be shown; it also hides the tool."""

    tool: str
    capability: str
    message: str


def misfits(
    tool: str, needs: tuple[Capability, ...], *, permits: Permits, whose: str = "the agent's"
) -> tuple[CapabilityValidationError, ...]:
    """Every declared need that does not fit inside the permits; `whose` they are is for the message."""
    found = ((need, _misfit(need, permits, whose)) for need in needs)
    return tuple(
        CapabilityValidationError(tool=tool, capability=need.kind, message=message)
        for need, message in found
        if message
    )


def _misfit(need: Capability, permits: Permits, whose: str) -> str | None:
    match need:
        case Network(listed_by="agent") if permits.network.is_empty:
            return f"hosts are the agent's to list, and {whose} `network.allow` lists none"
        case Processes(listed_by="agent") if permits.processes.is_empty:
            return f"binaries are the agent's to list, and {whose} `processes.allow` lists none"
        case Network():
            missing = [str(h) for h in need.hosts if not permits.network.covers(Network(h))]
            missing += [str(c) for c in need.cidrs if not permits.network.covers(Network(cidrs=(c,)))]
            return _gap("hosts", missing, f"{whose} `network.allow`")
        case Secrets():
            missing = [name for name in need.names if name not in permits.secrets.names]
            return _gap("secrets", missing, f"{whose} `secrets.allow`")
        case Files():
            return _files_gap(need, permits.files, f"{whose} `files`")
        case Processes():
            missing = [binary for binary in need.binaries if binary not in permits.processes.binaries]
            return _gap("binaries", missing, f"{whose} `processes.allow`")
        case Storage():
            return None if need in permits.storage else f"storage scope `{need.scope}` is not {whose}"


def _files_gap(need: Files, permitted: Files, key: str) -> str | None:
    for verb, asked, listed in (("read", need.read, permitted.read), ("write", need.write, permitted.write)):
        if isinstance(asked, FromAgent) and not listed:
            return f"paths to {verb} are the agent's to list, and {key} lists none to {verb}"
    left = need.intersect(permitted)
    if permitted.covers(need) and bool(left.read) >= bool(need.read) and bool(left.write) >= bool(need.write):
        return None
    return f"paths read {need.read!r} and written {need.write!r} do not fit {key}"


def _gap(what: str, missing: list[str], key: str) -> str | None:
    if not missing:
        return None
    listed = ", ".join(f"`{item}`" for item in missing)
    return f"{what} {listed} not in {key}"
