"""Opens the sources that a config names and asks each once; a value that is too short is an error of the config.

Takes: a config.  Gives: a `Strongbox`.  Never: opens one with a value that could not be hidden.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping
from pathlib import Path

from ringfence.assembly.config import Config
from ringfence.assembly.config.model import SecretKind, SecretPlace
from ringfence.assembly.raw_key import load_seal
from ringfence.errors import ConfigInvalid
from ringfence.execution.secrets import SecretSource
from ringfence.execution.strongbox import Strongbox
from ringfence.secret_sources.aws import AwsSource
from ringfence.secret_sources.command import CommandSource
from ringfence.secret_sources.env import EnvSource
from ringfence.secret_sources.files import DirectorySource, FileSource
from ringfence.secret_sources.keyring import KeyringSource
from ringfence.secret_sources.vault import VaultSource

_SOURCES: Mapping[SecretKind, Callable[[str, SecretPlace], SecretSource]] = {
    "env": lambda name, place: EnvSource(name, variable=place.at),
    "file": lambda name, place: FileSource(name, path=Path(place.at)),
    "directory": lambda name, place: DirectorySource(name, folder=Path(place.at)),
    "command": lambda name, place: CommandSource(name, argv=place.argv),
    "keyring": lambda name, place: KeyringSource(name, entry=place.at),
    "aws": lambda name, place: AwsSource(name, secret=place.at, field=place.field, region=place.region),
    "vault": lambda name, place: VaultSource(
        name, path=place.at, field=place.field or "", mount=place.mount or "secret"
    ),
}


def secret_sources(config: Config) -> dict[str, SecretSource]:
    """Every configured source, not yet asked; a credential of accounts has the sources of those."""
    return {
        name: _SOURCES[place.kind](name, place) for name, place in config.secrets.items() if place.kind != "account"
    }


def account_secrets(config: Config) -> dict[str, str]:
    """The secrets that are the credential of whatever account a call acts with, each with its channel."""
    return {name: place.at for name, place in config.secrets.items() if place.kind == "account"}


async def open_strongbox(config: Config) -> Strongbox:
    """The secrets of this config; one whose source has no value now is asked again when a call needs it."""
    if not config.secrets:
        return Strongbox()
    strongbox = Strongbox(secret_sources(config), by_account=account_secrets(config), key=version_key(config))
    unfit = {name: why for name, why in (await strongbox.load()).items() if isinstance(why, str)}
    if unfit:
        raise ConfigInvalid(
            tuple(f"{config.locate(('secrets', name))}: the value {why}" for name, why in unfit.items())
        )
    return strongbox


def version_key(config: Config) -> bytes:
    """Names versions of values alike in every process of this runtime, and for nobody else."""
    load_seal(config.audit.raw_key)
    return hmac.new(config.audit.raw_key.read_bytes(), b"ringfence versions of secrets", hashlib.sha256).digest()
