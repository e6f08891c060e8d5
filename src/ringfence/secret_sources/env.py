"""A secret in an environment variable of the host.

Takes: the variable's name.  Gives: its value.  Never: passes the variable on; jails start with an empty environment.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from ringfence.execution.secrets import Fetched, SecretUnavailable, SecretValue


class EnvSource:
    """Looked at for each call, since a program may set its own environment."""

    kind = "env"
    lasts = 0.0

    def __init__(self, name: str, *, variable: str, environment: Mapping[str, str] | None = None) -> None:
        self._name = name
        self._environment = os.environ if environment is None else environment
        self.where = variable

    def fetch(self) -> Fetched:
        if self.where not in self._environment:
            raise SecretUnavailable(
                f"the environment variable `{self.where}` is not set", remedy="set it where the runtime starts"
            )
        return Fetched(value=SecretValue(self._name, self._environment[self.where]))
