"""Paths that no configuration can grant: keys, histories, credentials, and what Ringfence itself lives by.

Takes: real paths.  Gives: the reason why one cannot be granted, if there is one.  Never: depends on the policy, or on
whether the guarded file is there yet.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

# Below every home folder, and wherever else one of these names is a part of the path.
NAMES: Mapping[str, str] = {
    ".ssh": "keys that sign in to other machines, and who may sign in to this one",
    ".gnupg": "keys that sign and decrypt",
    ".aws": "credentials of a cloud",
    ".azure": "credentials of a cloud",
    ".config/gcloud": "credentials of a cloud",
    ".oci": "credentials of a cloud",
    ".kube": "credentials of clusters",
    ".docker": "credentials of registries",
    ".config/containers": "credentials of registries",
    ".config/gh": "tokens of a code host",
    ".config/hub": "tokens of a code host",
    ".git-credentials": "tokens of a code host",
    ".netrc": "passwords of hosts",
    ".pgpass": "passwords of databases",
    ".my.cnf": "passwords of databases",
    ".npmrc": "tokens of a registry",
    ".pypirc": "tokens of a registry",
    ".cargo/credentials.toml": "tokens of a registry",
    ".terraform.d": "tokens of an infrastructure",
    ".vault-token": "a token of a secret store",
    ".password-store": "passwords",
    ".local/share/keyrings": "passwords",
    ".mozilla": "cookies and passwords of a browser",
    ".config/google-chrome": "cookies and passwords of a browser",
    ".config/chromium": "cookies and passwords of a browser",
    ".bash_history": "what was typed, passwords too",
    ".zsh_history": "what was typed, passwords too",
    ".local/share/fish": "what was typed, passwords too",
    ".python_history": "what was typed, passwords too",
    ".node_repl_history": "what was typed, passwords too",
    ".psql_history": "what was typed, passwords too",
    ".mysql_history": "what was typed, passwords too",
    ".sqlite_history": "what was typed, passwords too",
    ".bashrc": "runs whenever a shell starts",
    ".bash_profile": "runs whenever a shell starts",
    ".profile": "runs whenever a shell starts",
    ".zshrc": "runs whenever a shell starts",
    ".config/autostart": "runs whenever a desktop starts",
    ".config/systemd": "runs whenever a session starts",
}
MACHINE: Mapping[str, str] = {
    "/etc": "accounts, passwords and settings of the machine",
    "/boot": "what the machine starts with",
    "/dev": "devices of the machine",
    "/proc": "other processes",
    "/sys": "the kernel's own settings",
    "/run": "sockets of the machine's own programs",
    "/var/run": "sockets of the machine's own programs",
    "/var/lib/docker": "other containers",
    "/var/spool/cron": "runs at its time, as its owner",
    "/usr": "programs of the machine",
    "/bin": "programs of the machine",
    "/sbin": "programs of the machine",
    "/lib": "libraries of the machine",
}


def _homes() -> tuple[str, ...]:
    """Home folders of the accounts of this machine; some accounts have none, and name the root."""
    listed = {entry.pw_dir for entry in pwd.getpwall()} | {os.path.expanduser("~")}
    return tuple(sorted(home for home in listed if home.startswith("/") and home.rstrip("/")))


def _guarded_homes() -> dict[str, str]:
    return {f"{home.rstrip('/')}/{name}": reason for home in _homes() for name, reason in NAMES.items()}


@dataclass(frozen=True, kw_only=True)
class Floor:
    """What stays out of reach: `own` are Ringfence's files by path; `workspaces` is where its agents' folders lie."""

    own: Mapping[str, str] = field(default_factory=dict[str, str])
    workspaces: str | None = None
    homes: Mapping[str, str] = field(default_factory=_guarded_homes)

    def objection(self, path: str) -> str | None:
        """Why this real path cannot be granted: it is guarded, lies in something guarded, or holds it."""
        parts = PurePosixPath(path)
        for name, reason in NAMES.items():
            if _holds_run(parts.parts, PurePosixPath(name).parts):
                return f"`{name}` holds {reason}" if "runs" not in reason else f"`{name}` {reason}"
        for guarded, reason in self._guarded():
            other = PurePosixPath(guarded)
            if other.is_relative_to(parts):
                return f"`{guarded}` lies in it: {reason}"
            if parts.is_relative_to(other) and not self._is_an_agents(parts, within=other):
                return f"it lies in `{guarded}`: {reason}"
        return None

    def _guarded(self) -> Iterable[tuple[str, str]]:
        yield from MACHINE.items()
        yield from self.homes.items()
        yield from self.own.items()

    def _is_an_agents(self, path: PurePosixPath, *, within: PurePosixPath) -> bool:
        """Whether the path lies among the agents' folders, and those lie in what is guarded."""
        if self.workspaces is None:
            return False
        folder = PurePosixPath(self.workspaces)
        return folder.is_relative_to(within) and path != folder and path.is_relative_to(folder)


def _holds_run(parts: tuple[str, ...], run: tuple[str, ...]) -> bool:
    return any(parts[start : start + len(run)] == run for start in range(len(parts) - len(run) + 1))
