"""A secret in AWS Secrets Manager.

Takes: the secret's id, and the field where its text is JSON.  Gives: the current version, with AWS's own id for it.
Never: takes credentials from the config; the usual chain of the AWS SDK finds them.
"""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

from ringfence.execution.secrets import Fetched, SecretUnavailable, SecretValue

_LASTS = 60.0
_SECONDS = 10


class AwsSource:
    """Needs the extra `aws`; asked at most once a minute, so a rotation is noticed within one."""

    kind = "aws"
    lasts = _LASTS

    def __init__(self, name: str, *, secret: str, field: str | None = None, region: str | None = None) -> None:
        self._name = name
        self._field = field
        self._region = region
        self.where = secret

    def fetch(self) -> Fetched:
        answer = self._answer()
        value = field_of(answer.get("SecretString"), field=self._field, name=self._name)
        version = str(answer.get("VersionId"))
        del answer
        if value is None:
            raise SecretUnavailable(f"`{self.where}` in AWS Secrets Manager does not hold the text that is meant")
        return Fetched(value=value, version=version)

    def _answer(self) -> dict[str, Any]:
        try:
            boto3: Any = import_module("boto3")
            config: Any = import_module("botocore.config")
        except ImportError:
            raise SecretUnavailable("the extra `aws` is not installed", remedy="install `ringfence[aws]`") from None
        patience = config.Config(connect_timeout=_SECONDS, read_timeout=_SECONDS, retries={"max_attempts": 2})
        try:
            client = boto3.client("secretsmanager", region_name=self._region, config=patience)
            answer: dict[str, Any] = client.get_secret_value(SecretId=self.where)
        except Exception as error:  # the SDK raises classes that it makes while it runs
            raise SecretUnavailable(f"AWS Secrets Manager refused `{self.where}`: {type(error).__name__}") from None
        return answer


def field_of(text: object, *, field: str | None, name: str) -> SecretValue | None:
    """The value, or the one field of it that is meant; nothing where it is not there."""
    if not isinstance(text, str):
        return None
    if field is None:
        return SecretValue(name, text)
    try:
        found = json.loads(text)[field]
    except (ValueError, KeyError, TypeError):
        return None
    return SecretValue(name, found) if isinstance(found, str) else None
