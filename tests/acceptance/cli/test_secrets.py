"""`ringfence secrets` as a person types it; no value is ever on the screen."""

from __future__ import annotations

import pytest

from tests.acceptance.cli.typed import Shop, Typed

pytestmark = pytest.mark.req("SEC-1", "OPS-1")

VALUE = "zebra-orchid-41-lantern"
SECTION = """
secrets:
  CRM_KEY: {file: keys/crm}
  MAIL_KEY: {directory: keys}
  TEAM_KEY: {command: [/nowhere/at/all]}
"""


@pytest.fixture
def keys(shop: Shop) -> Shop:
    """A shop with three secrets, none of them set."""
    (shop.folder / "keys").mkdir(mode=0o700)
    config = shop.folder / "ringfence.yaml"
    config.write_text(config.read_text() + SECTION)
    return shop


def quiet(typed: Typed) -> Typed:
    assert VALUE not in typed.out + typed.err
    return typed


def test_secrets_are_listed_by_name_and_place_and_nothing_is_read(keys: Shop) -> None:
    rows = keys.json("secrets", "list")["secrets"]
    assert rows == [
        {"name": "CRM_KEY", "source": "file", "where": f"{keys.folder}/keys/crm", "agents": []},
        {"name": "MAIL_KEY", "source": "directory", "where": f"{keys.folder}/keys/MAIL_KEY", "agents": []},
        {"name": "TEAM_KEY", "source": "command", "where": "all", "agents": []},
    ]
    assert "CRM_KEY" in keys.typed("secrets", "list").out


def test_a_value_is_set_from_standard_input_and_is_checked_to_be_there(keys: Shop) -> None:
    for name in ("CRM_KEY", "MAIL_KEY"):
        assert quiet(keys.typed("secrets", "set", name, stdin=VALUE + "\n")).code == 0
        checked = quiet(keys.typed("secrets", "check", name))
        assert (checked.code, checked.out.split()[:2]) == (0, ["ok:", name])
    assert (keys.folder / "keys/crm").read_text() == VALUE + "\n"
    assert (keys.folder / "keys/MAIL_KEY").stat().st_mode & 0o777 == 0o600


def test_setting_again_is_another_version(keys: Shop) -> None:
    def version() -> str:
        checked: str = keys.json("secrets", "check", "CRM_KEY")["secrets"][0]["version"]
        return checked

    keys.typed("secrets", "set", "CRM_KEY", stdin=VALUE)
    before = version()
    assert version() == before
    keys.typed("secrets", "set", "CRM_KEY", stdin="another-value-of-it")
    assert version() != before


def test_every_secret_that_cannot_be_used_is_named_with_the_reason(keys: Shop) -> None:
    keys.typed("secrets", "set", "CRM_KEY", stdin=VALUE)
    (keys.folder / "keys/MAIL_KEY").write_text("short42")
    (keys.folder / "keys/MAIL_KEY").chmod(0o600)
    found = quiet(keys.typed("secrets", "check", "--json"))
    problems = {each["name"]: each["problem"] for each in found.document["secrets"]}
    assert found.code == 1
    assert problems["CRM_KEY"] is None
    assert "fewer than 8 characters" in problems["MAIL_KEY"]
    assert problems["TEAM_KEY"] == "`all` could not be started: no such file or directory"
    assert "short42" not in found.out
    assert "remedy" in found.out


def test_a_value_pasted_where_a_name_belongs_is_not_repeated(keys: Shop) -> None:
    for words in (("set", VALUE), ("check", VALUE)):
        came = quiet(keys.typed("secrets", *words, stdin="x"))
        assert came.code == 2
        assert "there is no secret of that name" in came.err


def test_a_short_value_and_a_source_kept_elsewhere_are_not_set(keys: Shop) -> None:
    short = keys.typed("secrets", "set", "CRM_KEY", stdin="short42")
    assert (short.code, "short42" in short.err + short.out) == (2, False)
    assert not (keys.folder / "keys/crm").exists()
    assert "comes from `command`" in keys.typed("secrets", "set", "TEAM_KEY", stdin=VALUE).err


def test_a_secret_file_that_others_can_read_is_an_error_of_the_config(keys: Shop) -> None:
    keys.typed("secrets", "set", "MAIL_KEY", stdin=VALUE)
    (keys.folder / "keys/MAIL_KEY").chmod(0o644)
    came = quiet(keys.typed("check"))
    assert came.code == 1
    assert "open to others than its owner" in came.out + came.err


ACCOUNTS = """
accounts:
  chat: {desk: {agents: [], credential: CRM_KEY}}
"""


@pytest.mark.req("VIEW-7")
def test_a_credential_of_accounts_is_listed_and_has_no_value_of_its_own(keys: Shop) -> None:
    config = keys.folder / "ringfence.yaml"
    config.write_text(config.read_text() + "  CHAT_TOKEN: {account: chat}\n" + ACCOUNTS)
    listed = keys.json("secrets", "list")["secrets"]
    assert {"name": "CHAT_TOKEN", "source": "account", "where": "chat", "agents": []} in listed
    for words in (("check", "CHAT_TOKEN"), ("set", "CHAT_TOKEN")):
        typed = keys.typed("secrets", *words, stdin=VALUE)
        assert (typed.code, "whatever account a call acts with" in typed.err) == (2, True)
