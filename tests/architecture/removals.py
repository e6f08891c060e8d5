"""The guards of the spine, one line each: take it out, and a test goes red.

Takes: nothing.  Gives: `REMOVALS`, each with the exact source to find, what stands there without the guard, and who
sees it.  Never: removes anything itself; `test_removals.py` does, on a copy.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.architecture import (
    removals_asked,
    removals_channels,
    removals_confined,
    removals_confined_files,
    removals_database,
    removals_doubt,
    removals_files,
    removals_floor,
    removals_jail,
    removals_network,
    removals_patience,
    removals_pins,
    removals_placing,
    removals_power,
    removals_reading,
    removals_secrets,
    removals_storage,
    removals_text,
    removals_tools,
)

SPINE = "tests/acceptance/spine"


@dataclass(frozen=True, kw_only=True)
class Removal:
    """One guard: the promise it holds, where it stands, what is there without it, and the tests that miss it."""

    id: str
    file: str
    find: str
    put: str
    tests: tuple[str, ...]


def _removal(id_: str, file: str, find: str, put: str, *tests: str) -> Removal:
    return Removal(id=id_, file=file, find=find, put=put, tests=tuple(f"{SPINE}/{test}" for test in tests))


_SPINE_GUARDS: tuple[Removal, ...] = (
    _removal(
        "CON-1",
        "agents/view.py",
        "if needed not in existing]",
        "if needed is None]",
        "test_declare.py::test_a_tool_whose_secret_is_missing_on_this_host_is_hidden_with_that_reason",
    ),
    _removal(
        "CON-2",
        "contract/bounds.py",
        'return {"maxLength": STRING_CHARACTERS, **node}',
        "return node",
        "test_declare.py::test_arguments_that_do_not_fit_are_refused_and_the_argument_is_named",
    ),
    _removal(
        "CON-3",
        "contract/call.py",
        "problem = _first_problem(self._input, parsed)",
        "problem = None",
        "test_declare.py::test_arguments_that_do_not_fit_are_refused_and_the_argument_is_named",
    ),
    _removal(
        "CON-3",
        "contract/call.py",
        "if self._output.is_valid(output):",
        "if True:",
        "test_output.py::test_output_that_misses_its_schema_is_withheld_whole",
    ),
    _removal(
        "CON-4",
        "policy/floors.py",
        "    yield _CLASS_FLOORS[tool.safety]\n",
        "",
        "test_declare.py::test_the_class_alone_decides_how_many_votes_a_call_needs_at_least",
    ),
    _removal(
        "CON-5",
        "policy/floors.py",
        "    yield _EGRESS_FLOORS[tool.egress]\n",
        "",
        "test_declare.py::test_egress_that_changes_the_far_side_always_needs_a_vote",
    ),
    _removal(
        "CON-7",
        "contract/tool.py",
        "if tool.consequential and tool.idempotency is None:",
        "if False:",
        "test_declare.py::test_a_tool_with_consequences_says_whether_it_may_happen_twice",
    ),
    _removal(
        "CON-8",
        "policy/floors.py",
        "    yield from _route(tool)\n",
        "",
        "test_declare.py::test_a_route_raises_a_floor_and_an_unknown_pack_refuses",
    ),
    _removal(
        "CON-9",
        "execution/retry.py",
        "    return not tool.consequential or tool.far_side_dedupes",
        "    return True",
        "test_declare.py::test_a_call_is_repeated_by_itself_only_where_a_second_time_does_no_harm",
    ),
    _removal(
        "CON-10",
        "runtime/case.py",
        '"source_digest": tool.source_digest,\n            "sandbox": sandbox,',
        '"source_digest": "",\n            "sandbox": sandbox,',
        "test_declare.py::test_fingerprint_source_digest_and_description_are_on_record_at_registration_and_at_every_call",
    ),
    _removal(
        "CON-12",
        "contract/context.py",
        '"the tool asked for a secret that it did not declare", code',
        'f"the tool asked for `{name}`, which it did not declare", code',
        "test_known_traps.py::test_a_refused_secret_name_is_not_echoed",
    ),
    _removal(
        "CON-14",
        "policy/grant.py",
        "return need.intersect(permits.files)",
        "return permits.files",
        "test_known_traps.py::test_explicit_paths_are_intersected_at_call_time_too_not_only_at_registration",
    ),
    _removal(
        "REG-3",
        "registry/registry.py",
        "        names.add(offered.tool.name)\n",
        "",
        "test_register.py::test_two_names_that_read_alike_cannot_be_registered_together",
    ),
    _removal(
        "REG-4",
        "runtime/case.py",
        '"description_hash": tool.tool.description_hash,',
        '"description_hash": "",',
        "test_declare.py::test_fingerprint_source_digest_and_description_are_on_record_at_registration_and_at_every_call",
    ),
    _removal(
        "VIEW-1",
        "agents/view.py",
        "if not allowed.matches(tool.name):",
        "if False:",
        "test_view.py::test_a_list_of_globs_is_a_strict_allowlist",
    ),
    _removal(
        "VIEW-2",
        "agents/view.py",
        'raise CallRefused("no such tool", code="tool_not_found")',
        'raise CallRefused(f"no such tool: {name}", code="tool_not_found")',
        "test_view.py::test_a_hidden_tool_and_one_that_never_was_get_the_same_words_and_the_same_record",
    ),
    _removal(
        "VIEW-4",
        "agents/view.py",
        "    if gaps:\n",
        "    if False:\n",
        "test_view.py::test_a_need_that_does_not_fit_the_agent_hides_the_tool_and_is_kept_as_a_record",
    ),
    _removal(
        "VIEW-5",
        "runtime/status.py",
        "hidden=view.hidden,",
        "hidden=(),",
        "test_view.py::test_status_names_every_tool_and_for_each_hidden_one_why",
    ),
    _removal(
        "POL-1",
        "policy/decision.py",
        "return max([reason.asks",
        "return min([reason.asks",
        "test_decide.py::test_every_reason_is_listed_and_the_strictest_decides",
    ),
    _removal(
        "POL-2",
        "policy/conditions.py",
        "value = arguments.get(name, _ABSENT)\n        return missing if value is _ABSENT else test(value)",
        "value = arguments.get(name, _ABSENT)\n        return value is not _ABSENT and test(value)",
        "test_decide.py::test_leaving_an_argument_out_does_not_dodge_a_rule",
    ),
    _removal(
        "POL-2",
        "policy/rules.py",
        'kind="rule_error", decision=Decision.DENY,',
        'kind="rule_error", decision=Decision.ALLOW,',
        "test_known_traps.py::test_a_rule_that_raises_is_a_denial",
    ),
    _removal(
        "APR-1",
        "runtime/approving.py",
        "if earlier.status is Status.PENDING and parts.now() < earlier.approval.expires_at:",
        "if False:",
        "test_approve.py::test_the_same_call_again_does_not_ask_twice_and_picks_up_the_decision",
    ),
    _removal(
        "APR-2",
        "approvals/request.py",
        '"grant": proposal.grant.document(),',
        '"grant": [],',
        "test_approve.py::test_a_changed_grant_voids_what_was_approved",
    ),
    _removal(
        "APR-2",
        "approvals/people.py",
        "if len(able & frozenset(given)) < decision.votes:",
        "if False:",
        "test_approve.py::test_what_was_approved_under_other_rules_is_void_and_asked_anew",
    ),
    _removal(
        "APR-3",
        "runtime/welcome.py",
        "if identity in self._entered:",
        "if identity.session in {each.session for each in self._entered}:",
        "test_approve.py::test_a_call_of_another_session_cannot_be_resumed",
    ),
    _removal(
        "APR-4",
        "approvals/people.py",
        "if len(able) < decision.votes:",
        "if False:",
        "test_approve.py::test_a_call_for_which_the_votes_cannot_be_found_is_refused_at_once",
    ),
    _removal(
        "APR-4",
        "approvals/people.py",
        "if decision is Decision.APPROVE_TWICE and not proposers:",
        "if False:",
        "test_approve.py::test_an_agent_with_neither_owner_nor_user_cannot_make_a_call_that_needs_two_votes",
    ),
    _removal(
        "APR-5",
        "runtime/approving.py",
        "if earlier.status is Status.REJECTED:",
        "if False:",
        "test_approve.py::test_a_rejected_call_is_refused_at_once_however_often_it_is_tried_again",
    ),
    _removal(
        "SBX-1",
        "execution/execute.py",
        "    if refusal is not None:\n",
        "    if False:\n",
        "test_execute.py::test_without_a_configured_sandbox_nothing_runs",
    ),
    _removal(
        "SBX-7",
        "execution/execute.py",
        "    if missing:\n",
        "    if False:\n",
        "test_execute.py::test_a_tool_with_a_need_that_has_no_backend_here_is_refused_by_name_and_kind",
    ),
    _removal(
        "SBX-10",
        "runtime/session.py",
        "return list(await asyncio.gather(*map(self._made, requests)))",
        "return list(await asyncio.gather(*map(self._made, reversed(requests))))",
        "test_execute.py::test_the_calls_of_one_turn_run_side_by_side_and_answer_in_order",
    ),
    _removal(
        "AUD-1",
        "runtime/case.py",
        "safety=self.terms.subject.safety if self.terms else self._shown_safety(),",
        "safety=None,",
        "test_trail.py::test_every_event_has_its_fields_and_the_class_of_its_tool",
    ),
    _removal(
        "AUD-3",
        "runtime/recording.py",
        'return _failed(case, code="in_doubt", message="the call ran, and what it said could not be recorded")',
        "return completed",
        "test_trail.py::test_output_whose_end_cannot_be_recorded_is_withheld_and_the_call_is_in_doubt",
    ),
    _removal(
        "AUD-3",
        "runtime/pipeline.py",
        "            await self._start(case, warrant)  #            START      on the record before anything runs\n",
        "",
        "test_trail.py::test_nothing_runs_while_the_trail_cannot_be_written",
    ),
    _removal(
        "IDM-1",
        "execution/idempotency.py",
        "canonical_words(agent=agent, key=key, tool=tool)",
        "canonical_words(key=key)",
        "test_execute.py::test_a_key_given_by_the_caller_lives_in_the_namespace_of_agent_and_tool",
    ),
    _removal(
        "SAN-2",
        "runtime/cleaning.py",
        "text=text.text,",
        "text=reply.for_model or text.text,",
        "test_output.py::test_words_for_the_model_are_cleaned_like_output",
    ),
    _removal(
        "SAN-3",
        "runtime/cleaning.py",
        "output, findings = _cleaned(reply.output)",
        "output, findings = reply.output, ()",
        "test_output.py::test_hostile_strings_are_cleaned_leaf_by_leaf",
    ),
    _removal(
        "OPS-7",
        "errors.py",
        "self.remedy = remedy or CODES[self.code].remedy",
        'self.remedy = remedy or ""',
        "test_errors.py::test_what_a_caller_is_told_has_a_known_code_and_what_to_do_about_it",
    ),
    Removal(
        id="OPS-6",
        file="testing/only_tests.py",
        find='if "pytest" not in sys.modules and "unittest" not in sys.modules:',
        put="if False:",
        tests=("tests/unit/testing/test_only_tests.py::test_the_doors_of_this_room_are_shut_outside_a_test_run",),
    ),
)

_TABLES = (
    removals_channels.ROWS,
    removals_confined.ROWS,
    removals_confined_files.ROWS,
    removals_database.ROWS,
    removals_doubt.ROWS,
    removals_power.ROWS,
    removals_pins.ROWS,
    removals_jail.ROWS,
    removals_network.ROWS,
    removals_patience.ROWS,
    removals_asked.ROWS,
    removals_floor.ROWS,
    removals_files.ROWS,
    removals_text.ROWS,
    removals_reading.ROWS,
    removals_secrets.ROWS,
    removals_placing.ROWS,
    removals_storage.ROWS,
    removals_tools.ROWS,
)

REMOVALS = _SPINE_GUARDS + tuple(
    Removal(id=id_, file=file, find=find, put=put, tests=tests)
    for rows in _TABLES
    for id_, file, find, put, tests in rows
)
