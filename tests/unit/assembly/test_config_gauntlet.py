"""The gauntlet: bindings, accounts, credentials, recipients and profiles, every fault in one report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ringfence.agents.accounts import Account
from ringfence.agents.bindings import Binding
from ringfence.assembly import Config, load_config
from ringfence.contract.capabilities import Network
from ringfence.contract.patterns import GlobSet
from ringfence.errors import ConfigInvalid
from ringfence.policy.profiles import Profile

pytestmark = pytest.mark.req("VIEW-7")

WHOLE = """version: 1
secrets: {WHATSAPP_SALES: {env: WA}}
accounts: {whatsapp: {sales: {agents: [ana], credential: WHATSAPP_SALES}}}
agents:
  ana:
    allowed_tools: ["crm_*", send_email]
    outbound_allowlist: {email: ["*@Customers.example"]}
    profile: support
    bindings:
      - {channel: whatsapp, instance: sales, allowed_tools: [crm_lookup], network: {allow: [api.crm.example]}}
profiles:
  support: {allow: ["group:crm"], deny: ["*_delete"], requires_approval: ["crm_update_*"], groups: {crm: ["crm_*"]}}
"""


def load(folder: Path, text: str) -> Config:
    file = folder / "ringfence.yaml"
    file.write_text(text, encoding="utf-8")
    return load_config(file)


def problems(folder: Path, text: str) -> tuple[str, ...]:
    with pytest.raises(ConfigInvalid) as invalid:
        load(folder, text)
    return tuple(problem.split("ringfence.yaml:", 1)[1] for problem in invalid.value.problems)


@pytest.mark.req("VIEW-3", "POL-3", "POL-5")
def test_channels_profiles_and_recipients_become_values(tmp_path: Path) -> None:
    config = load(tmp_path, WHOLE)
    assert config.warnings == ()
    ana = config.agents["ana"]
    assert ana.bindings == (
        Binding(
            channel="whatsapp", instance="sales", allowed_tools=("crm_lookup",), network=Network("api.crm.example")
        ),
    )
    assert (ana.profile, dict(ana.outbound)) == ("support", {"email": ("*@customers.example",)})
    assert dict(config.accounts.by_name) == {
        "whatsapp:sales": Account(
            channel="whatsapp", instance="sales", agents=frozenset({"ana"}), credential="WHATSAPP_SALES"
        )
    }
    assert dict(config.profiles.by_name) == {
        "support": Profile(
            name="support",
            allow=GlobSet(["crm_*"]),
            deny=GlobSet(["*_delete"]),
            requires_approval=GlobSet(["crm_update_*"]),
        )
    }


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{agents: [ana], cred", "{agents: [], cred", "the account `whatsapp:sales` does not allow the agent `ana`"),
        ("{agents: [ana], cred", "{agents: [ana, eve], cred", "`eve` is not under `agents`"),
        ("credential: WHATSAPP_SALES", "credential: WHATSAPP_SALE", "did you mean `WHATSAPP_SALES`?"),
        ("instance: sales, a", "instance: sale, a", "there is no account `whatsapp:sale`"),
        ("channel: whatsapp", "channel: whatsap", "did you mean `whatsapp:sales`?"),
        ("channel: whatsapp", "channel: WhatsApp", "is not a channel"),
        ("profile: support", "profile: suport", "did you mean `support`?"),
        ('"group:crm"', '"group:cmr"', "`cmr` is no group of this profile"),
        ('"*@Customers.example"', '"*Customers.example"', "a pattern over mail has one `@`"),
        ('"*@Customers.example"', '"* @Customers.example"', "is not an address"),
        ("network: {allow", "networks: {allow", "did you mean `network`?"),
    ],
)
def test_a_fault_is_told_with_its_place_and_what_was_meant(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in WHOLE
    assert said in "\n".join(problems(tmp_path, WHOLE.replace(old, new)))


@pytest.mark.req("VIEW-3")
def test_the_same_pair_twice_is_an_error(tmp_path: Path) -> None:
    text = WHOLE.replace("    bindings:\n", "    bindings:\n      - {channel: whatsapp, instance: sales}\n")
    (problem,) = problems(tmp_path, text)
    assert problem.startswith("11:")
    assert "`whatsapp:sales` is also binding 0 of this agent" in problem


@pytest.mark.req("VIEW-3")
@pytest.mark.parametrize("missing", ["channel: whatsapp, ", "instance: sales, "])
def test_a_binding_names_both_channel_and_instance(tmp_path: Path, missing: str) -> None:
    assert "is missing" in "\n".join(problems(tmp_path, WHOLE.replace(missing, "", 1)))


def test_one_secret_signs_in_as_one_account(tmp_path: Path) -> None:
    text = WHOLE.replace(
        "credential: WHATSAPP_SALES}}}",
        "credential: WHATSAPP_SALES}, boss: {agents: [ana], credential: WHATSAPP_SALES}}}",
    )
    (problem,) = problems(tmp_path, text)
    assert "also signs in as `whatsapp:sales`" in problem


def test_an_agent_cannot_list_the_credential_of_an_account_it_is_not_bound_to(tmp_path: Path) -> None:
    text = WHOLE.replace(
        "agents:\n  ana:", "agents:\n  ben: {allowed_tools: [x], secrets: {allow: [WHATSAPP_SALES]}}\n  ana:"
    )
    (problem,) = problems(tmp_path, text)
    assert problem.startswith("5:")
    assert "`WHATSAPP_SALES` signs in as `whatsapp:sales`, and the agent has no such binding" in problem
    own = WHOLE.replace("    profile", "    secrets: {allow: [WHATSAPP_SALES]}\n    profile")
    assert load(tmp_path, own).agents["ana"].permits.secrets.names == ("WHATSAPP_SALES",)


def test_a_credential_file_that_others_can_read_is_an_error(tmp_path: Path) -> None:
    text = WHOLE.replace("{env: WA}", "{file: wa.key}")
    (tmp_path / "wa.key").write_text("0123456789")
    (tmp_path / "wa.key").chmod(0o640)
    (problem,) = problems(tmp_path, text)
    assert "open to others than its owner" in problem
    (tmp_path / "wa.key").chmod(0o600)
    assert load(tmp_path, text).warnings == ()


def test_every_fault_is_in_one_report(tmp_path: Path) -> None:
    (tmp_path / "wa.key").write_text("0123456789")
    (tmp_path / "wa.key").chmod(0o644)
    text = WHOLE.replace("{env: WA}", "{file: wa.key}").replace("[ana], cred", "[anna], cred")
    text = text.replace("profile: support", "profile: suport").replace('"group:crm"', '"group:cmr"')
    assert [problem.split(":")[0] for problem in problems(tmp_path, text)] == ["2", "3", "8", "10", "12"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{sales: {", "{idle: {agents: [ana]}, sales: {", "no agent has a binding `whatsapp:idle`"),
        ('["*@Customers.example"]', '["*"]', "`*` allows every recipient"),
    ],
)
def test_what_is_not_wrong_and_yet_odd_is_a_warning(tmp_path: Path, old: str, new: str, said: str) -> None:
    (warning,) = load(tmp_path, WHOLE.replace(old, new, 1)).warnings
    assert said in str(warning)


@pytest.mark.parametrize("value", [None, 1, "x", [], {"a": None}, {"a": {"b": None}}, {"a": {"b": {"agents": None}}}])
@pytest.mark.parametrize("key", ["accounts", "profiles"])
def test_a_wrong_kind_of_value_is_a_report_and_never_a_crash(key: str, value: Any) -> None:
    with pytest.raises(ConfigInvalid):
        load_config({"version": 1, "agents": {"ana": {"allowed_tools": ["x"]}}, key: value})


@pytest.mark.parametrize(
    "value",
    [
        None, 1, "x", {}, [None], [[]], [{}], [{"channel": 1, "instance": []}],
        [{"channel": "a", "instance": "b", "outbound_allowlist": {"email": [1]}}],
    ],
)  # fmt: skip
def test_bindings_of_a_wrong_kind_are_a_report_and_never_a_crash(value: Any) -> None:
    with pytest.raises(ConfigInvalid):
        load_config({"version": 1, "agents": {"ana": {"allowed_tools": ["x"], "bindings": value}}})
