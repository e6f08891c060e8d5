"""A secret in the keyring of the user who runs the runtime.

Takes: a service's name; the entry is the secret's own name.  Gives: the password kept there.
Never: falls back to a keyring that keeps passwords in plain text.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ringfence.execution.secrets import Fetched, SecretUnavailable, SecretValue

_LASTS = 60.0
_REMEDY = "unlock the keyring of this login, or use a `file` on a machine without one"


class KeyringSource:
    """Needs the extra `keyring`."""

    kind = "keyring"
    lasts = _LASTS

    def __init__(self, name: str, *, entry: str) -> None:
        self._name = name
        self.where = entry

    def fetch(self) -> Fetched:
        found = self._found()
        if found is None:
            raise SecretUnavailable(f"the keyring holds no such entry under `{self.where}`", remedy=_REMEDY)
        return Fetched(value=found)

    def store(self, value: SecretValue) -> None:
        keyring = _keyring()
        try:
            keyring.set_password(self.where, self._name, value.revealed())
        except Exception as error:  # each backend has errors of its own
            raise _refused(error) from None

    def _found(self) -> SecretValue | None:
        keyring = _keyring()
        try:
            value = keyring.get_password(self.where, self._name)
        except Exception as error:  # each backend has errors of its own
            raise _refused(error) from None
        return None if value is None else SecretValue(self._name, value)


def _refused(error: Exception) -> SecretUnavailable:
    """By the kind of error alone: a backend's words may hold what it was asked to keep."""
    return SecretUnavailable(f"the keyring refused: {type(error).__name__}", remedy=_REMEDY)


def _keyring() -> Any:
    # In the function: it is an extra, and takes long to load.
    try:
        keyring: Any = import_module("keyring")
    except ImportError:
        raise SecretUnavailable("the extra `keyring` is not installed", remedy="install `ringfence[keyring]`") from None
    kept_by = type(keyring.get_keyring()).__module__
    if kept_by.startswith(("keyring.backends.fail", "keyring.backends.null", "keyrings.alt.file")):
        raise SecretUnavailable("this login has no keyring that keeps secrets", remedy=_REMEDY)
    return keyring
