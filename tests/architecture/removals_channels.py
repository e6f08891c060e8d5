"""The guards of bindings, accounts, recipients, profiles and workspaces: take one out, and a test goes red.

Takes: nothing.  Gives: `ROWS`, each (promise, file under `src/ringfence`, the exact source to find, what stands there
without the guard, the tests that miss it).  Never: removes anything itself.
"""

from __future__ import annotations

_ACTING = "tests/unit/agents/test_acting.py::test_"
_ADDRESSES = "tests/unit/policy/test_addresses.py::test_"
_BINDINGS = "tests/acceptance/spine/test_bindings.py::test_"
_GAUNTLET = "tests/unit/assembly/test_config_gauntlet.py::test_"
_MARKED = "tests/unit/contract/test_marked.py::test_"
_PROFILES = "tests/unit/policy/test_profiles.py::test_"
_RECIPIENTS = "tests/acceptance/spine/test_recipients.py::test_"
_WORKSPACES = "tests/acceptance/spine/test_workspaces.py::test_"

ROWS: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    (
        "VIEW-3",
        "agents/acting.py",
        "elif agent.bindings:",
        "elif False:",
        (f"{_BINDINGS}an_agent_with_bindings_opens_no_session_without_one",),
    ),
    (
        "VIEW-3",
        "runtime/runtime.py",
        "require_binding(self._parts.agent(agent), binding)",
        "self._parts.agent(agent)",
        (f"{_BINDINGS}an_agent_with_bindings_opens_no_session_without_one",),
    ),
    (
        "VIEW-3",
        "agents/acting.py",
        "if each.name == name), None)",
        "if each.name == name), agent.bindings[0] if agent.bindings else None)",
        (f"{_ACTING}a_binding_that_is_not_the_agents_is_misuse",),
    ),
    (
        "VIEW-3",
        "agents/view.py",
        "or _why_hidden_here(tool, acting)",
        "",
        (f"{_BINDINGS}a_binding_leaves_in_what_both_lists_have",),
    ),
    (
        "VIEW-3",
        "agents/profile.py",
        "self.files.intersect(binding.files)",
        "binding.files",
        (f"{_ACTING}no_category_is_wider_on_a_binding",),
    ),
    (
        "VIEW-3",
        "agents/profile.py",
        "self.network.narrowed_by(binding.network)",
        "binding.network",
        (f"{_ACTING}no_category_is_wider_on_a_binding",),
    ),
    (
        "VIEW-3",
        "assembly/config/gauntlet.py",
        "if first.setdefault(found, at) != at:",
        "if False:",
        (f"{_GAUNTLET}the_same_pair_twice_is_an_error",),
    ),
    (
        "CON-14",
        "policy/terms.py",
        "permits=self.acting.permits",
        "permits=self.acting.agent.permits",
        (f"{_BINDINGS}what_an_author_leaves_to_the_agent_is_what_the_binding_leaves_of_it",),
    ),
    (
        "VIEW-7",
        "agents/accounts.py",
        "if found is None or agent not in found.agents:",
        "if found is None:",
        (f"{_ACTING}without_an_account_that_lets_the_agent_in_there_is_nothing_to_act_with",),
    ),
    (
        "VIEW-7",
        "agents/acting.py",
        "if name not in barred)",
        ")",
        (f"{_BINDINGS}a_tool_that_signs_in_as_one_account_does_not_exist_on_another",),
    ),
    (
        "VIEW-7",
        "assembly/config/gauntlet.py",
        'elif account is not INVALID and agent not in section(account, "agents"):',
        "elif False:",
        (f"{_BINDINGS}a_binding_on_an_account_that_does_not_allow_the_agent_opens_nothing",),
    ),
    (
        "VIEW-7",
        "assembly/config/gauntlet.py",
        "if holder is not None and holder not in own:",
        "if False:",
        (f"{_GAUNTLET}an_agent_cannot_list_the_credential_of_an_account_it_is_not_bound_to",),
    ),
    (
        "VIEW-7",
        "approvals/request.py",
        '"account": proposal.account,',
        '"account": None,',
        (f"{_BINDINGS}the_account_is_on_the_card_the_job_and_the_trail",),
    ),
    (
        "VIEW-6",
        "assembly/workspaces.py",
        "if inner[: len(outer)] == outer:",
        "if False:",
        (f"{_WORKSPACES}a_link_from_one_workspace_into_another_opens_nothing",),
    ),
    (
        "VIEW-6",
        "assembly/workspaces.py",
        "missing.mkdir(mode=_OWNER_ONLY, exist_ok=True)",
        "missing.mkdir(exist_ok=True)",
        (f"{_WORKSPACES}each_agent_gets_a_folder_that_is_its_owners_alone",),
    ),
    (
        "POL-5",
        "policy/authorize.py",
        "yield from unlisted(proposal)",
        "yield from ()",
        (f"{_RECIPIENTS}any_other_is_refused_and_nothing_runs",),
    ),
    (
        "POL-5",
        "policy/recipients.py",
        "if all(any(glob(pattern)(address) for pattern in listed[channel]) for listed in outbound):",
        "if any(any(glob(pattern)(address) for pattern in listed[channel]) for listed in outbound):",
        (f"{_RECIPIENTS}a_binding_narrows_the_lists_and_never_widens_them",),
    ),
    (
        "POL-5",
        "policy/addresses.py",
        "if any(unicodedata.category(letter) in _HIDDEN for letter in text):",
        "if False:",
        (f"{_ADDRESSES}another_channels_address_is_one_token_as_it_is",),
    ),
    (
        "POL-5",
        "policy/addresses.py",
        "if not text.isascii() and _older_reading(text) not in (None, name):",
        "if False:",
        (f"{_ADDRESSES}what_is_not_exactly_one_mail_address_is_refused",),
    ),
    (
        "POL-5",
        "contract/marked.py",
        'elif is_object(below) and "default" in below:',
        "elif False:",
        (f"{_RECIPIENTS}a_recipient_that_was_left_out_is_the_contracts_default",),
    ),
    (
        "POL-5",
        "contract/marked.py",
        "or branches",
        "",
        (f"{_MARKED}where_no_branch_fits_alone_every_branch_speaks",),
    ),
    (
        "POL-3",
        "policy/profiles.py",
        "if self.allow is not None and not self.allow.matches(tool):",
        "if self.allow and not self.allow.matches(tool):",
        (f"{_PROFILES}an_empty_allowlist_allows_nothing",),
    ),
    (
        "POL-3",
        "policy/profiles.py",
        "if denied is not None:",
        "if denied is not None and not (self.allow and self.allow.matches(tool)):",
        (f"{_PROFILES}deny_wins_over_allow",),
    ),
    (
        "POL-3",
        "policy/profiles.py",
        'yield Reason(kind="profile", decision=Decision.DENY, because=because)',
        "yield from ()",
        (f"{_PROFILES}a_profile_that_does_not_exist_denies",),
    ),
)
