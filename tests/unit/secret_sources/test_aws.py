"""AWS Secrets Manager, as moto's server plays it over a real connection."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from moto.server import ThreadedMotoServer

from ringfence.execution.secrets import SecretUnavailable
from ringfence.secret_sources.aws import AwsSource

pytestmark = [
    pytest.mark.req("SEC-1"),
    # boto3 warns about its own use of the clock.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

REGION = "eu-west-1"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    _, port = server.get_host_and_port()
    yield f"http://127.0.0.1:{port}"
    server.stop()


@pytest.fixture
def manager(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The far side's own client, in the same world as the source."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    boto3: Any = import_module("boto3")
    return boto3.client("secretsmanager", region_name=REGION)


def test_the_current_version_is_read_and_a_rotation_is_another(manager: Any) -> None:
    made = manager.create_secret(Name="prod/crm", SecretString="first-value-of-crm")
    source = AwsSource("CRM_KEY", secret="prod/crm", region=REGION)
    first = source.fetch()
    manager.put_secret_value(SecretId="prod/crm", SecretString="second-value-of-crm")
    second = source.fetch()
    assert (first.value.revealed(), first.version) == ("first-value-of-crm", made["VersionId"])
    assert second.value.revealed() == "second-value-of-crm"
    assert second.version not in (None, first.version)


def test_a_field_of_a_json_secret_is_taken(manager: Any) -> None:
    manager.create_secret(Name="prod/mail", SecretString='{"user": "u", "token": "the-mail-token"}')
    assert AwsSource("K", secret="prod/mail", field="token", region=REGION).fetch().value.revealed() == "the-mail-token"
    with pytest.raises(SecretUnavailable, match="does not hold the text"):
        AwsSource("K", secret="prod/mail", field="absent", region=REGION).fetch()


@pytest.mark.usefixtures("manager")
def test_a_secret_that_is_not_there_is_named_with_the_kind_of_error_alone() -> None:
    with pytest.raises(SecretUnavailable) as raised:
        AwsSource("K", secret="prod/absent", region=REGION).fetch()
    assert raised.value.message == "AWS Secrets Manager refused `prod/absent`: ResourceNotFoundException"
