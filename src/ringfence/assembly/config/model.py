"""A config that was understood whole, as values that the stages take.

Takes: nothing by itself; `load_config` makes it.  Gives: frozen values with absolute paths.
Never: exists half-valid.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Literal, TypeAlias

from ringfence.agents.accounts import Accounts
from ringfence.agents.profile import Agent
from ringfence.approvals.people import Electorate
from ringfence.assembly.config.problems import KeyPath, Places, Problem
from ringfence.contract.limits import Limits
from ringfence.execution.cost import Prices
from ringfence.execution.storage import StorageQuota
from ringfence.policy.profiles import Profiles
from ringfence.policy.rules import Rule
from ringfence.registry.pins import CodeChange

SecretKind: TypeAlias = Literal["env", "file", "directory", "command", "keyring", "aws", "vault", "account"]


@dataclass(frozen=True, kw_only=True)
class ToolModules:
    """Python modules that declare tools, the folders they are looked for in, and tools that are folders themselves."""

    modules: tuple[str, ...]
    path: tuple[Path, ...]
    folders: tuple[Path, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SecretPlace:
    """Where a secret's value is found, in the words of its kind of source. Never the value."""

    kind: SecretKind
    at: str
    argv: tuple[str, ...] = ()
    field: str | None = None
    region: str | None = None
    mount: str | None = None


@dataclass(frozen=True, kw_only=True)
class SandboxChoice:
    """What runs the tools, and the most that one call may use."""

    kind: Literal["deny", "local"]
    env: tuple[str, ...]
    limits: Limits
    spares: int
    posture: Literal["full", "confined"] = "confined"


@dataclass(frozen=True, kw_only=True)
class AuditFiles:
    """The files that guard the trail, and how long bodies are kept; nothing for `retention` is for good."""

    anchor: Path
    signing_key: Path
    retention: timedelta | None = None

    @property
    def raw_key(self) -> Path:
        """The key that seals raw output: beside the signing key, and so outside the store."""
        return self.signing_key.with_name("raw.key")


@dataclass(frozen=True, kw_only=True)
class Config:
    """One config, whole. `digest` names what it says, wherever and in whatever order of keys it is written."""

    root: Path
    file: Path | None
    digest: str
    tools: ToolModules
    pins_code: CodeChange
    agents: Mapping[str, Agent]
    accounts: Accounts
    profiles: Profiles
    electorate: Electorate
    rules: tuple[Rule, ...]
    rule_ids: tuple[str | None, ...]
    approvals_expire: timedelta
    secrets: Mapping[str, SecretPlace]
    sandbox: SandboxChoice
    storage: StorageQuota
    prices: Prices
    store_url: str
    store_file: Path
    audit: AuditFiles
    warnings: tuple[Problem, ...]
    places: Places = field(repr=False, compare=False)

    @property
    def state(self) -> Path:
        """The folder in which Ringfence keeps what it must remember."""
        return self.store_file.parent

    def locate(self, path: KeyPath) -> str:
        """The beginning of a message about a key: file, line, column and the key; of config from code, the key."""
        return self.places.locate(path)
