"""A secret in HashiCorp Vault, version 2 of its key-value engine. Small, and not tested against a real Vault.

Takes: mount, path and field.  Gives: the current version, with Vault's number for it.
Never: takes a token from the config; `VAULT_ADDR` and `VAULT_TOKEN` are where Vault's own client looks.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ringfence.execution.secrets import Fetched, SecretUnavailable, SecretValue

_LASTS = 60.0
_SECONDS = 10


class VaultSource:
    """Needs the extra `vault`."""

    kind = "vault"
    lasts = _LASTS

    def __init__(self, name: str, *, path: str, field: str, mount: str = "secret") -> None:
        self._name = name
        self._mount = mount
        self._field = field
        self.where = path

    def fetch(self) -> Fetched:
        try:
            hvac: Any = import_module("hvac")
        except ImportError:
            raise SecretUnavailable("the extra `vault` is not installed", remedy="install `ringfence[vault]`") from None
        fetched = self._fetched(hvac)
        if fetched is None:
            raise SecretUnavailable(f"`{self.where}` in Vault does not hold the field that is meant")
        return fetched

    def _fetched(self, hvac: Any) -> Fetched | None:
        try:
            engine = hvac.Client(timeout=_SECONDS).secrets.kv.v2
            kept = engine.read_secret_version(path=self.where, mount_point=self._mount, raise_on_deleted_version=True)
            found, version = kept["data"]["data"].get(self._field), kept["data"]["metadata"]["version"]
        except Exception as error:  # the client raises classes of its own, of `requests`, and for missing keys
            raise SecretUnavailable(f"Vault refused `{self.where}`: {type(error).__name__}") from None
        return Fetched(value=SecretValue(self._name, found), version=str(version)) if isinstance(found, str) else None
