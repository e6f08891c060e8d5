"""The guards of standing grants, freeze and expiry, one line each: take it out, and a test goes red.

Takes: nothing.  Gives: `ROWS`, each (promise, file under `src/ringfence`, the exact source to find, what stands there
without the guard, the tests that miss it).  Never: removes anything itself.
"""

from __future__ import annotations

_GRANTS = "tests/acceptance/spine/test_standing.py::test_"
_FREEZE = "tests/acceptance/spine/test_freeze.py::test_"
_ANSWERS = "tests/unit/policy/test_answering.py::test_"
_SQL = "store/sql/sqlite/migrations/0003_grants_and_freeze.sql"
_START = "store/sql/sqlite/migrations/0009_one_look_at_a_start.sql"

ROWS: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    (
        "APR-8",
        "policy/answering.py",
        "answerable is None or reason.decision is Decision.DENY or",
        "answerable is None or",
        (f"{_ANSWERS}a_denial_is_never_answered_whoever_signed",),
    ),
    (
        "APR-8",
        "policy/answering.py",
        "signatures < max(1, reason.decision.votes)",
        "signatures < 1",
        (f"{_GRANTS}what_needs_two_votes_needs_the_signatures_of_two_operators",),
    ),
    (
        "APR-8",
        "policy/answering.py",
        "return reason.digest in named",
        "return True",
        (f"{_GRANTS}a_rule_is_answered_only_where_the_grant_names_it_and_an_edited_rule_is_another",),
    ),
    (
        "APR-8",
        "policy/answering.py",
        'answerable.how == "always" or reason.kind in named',
        "True",
        (f"{_ANSWERS}what_is_known_only_at_the_call_is_answered_where_its_kind_is_named",),
    ),
    (
        "APR-8",
        "approvals/standing.py",
        'return compile_conditions(self.when, absent="fails")',
        "return compile_conditions(self.when)",
        (f"{_GRANTS}leaving_an_argument_out_does_not_fit_a_condition_on_it",),
    ),
    (
        "APR-8",
        "approvals/standing.py",
        "return bounds.condition(proposal.call.arguments)",
        "return True",
        (f"{_GRANTS}a_call_outside_its_conditions_is_asked_about",),
    ),
    (
        "APR-8",
        "approvals/standing.py",
        "able = operators - frozenset(proposers)",
        "able = operators",
        (f"{_GRANTS}a_grant_by_a_proposer_of_the_call_counts_for_nothing",),
    ),
    (
        "APR-8",
        "approvals/standing.py",
        "able & frozenset(grant.signed_by)",
        "frozenset(grant.signed_by)",
        (f"{_GRANTS}a_grant_by_somebody_who_is_no_longer_an_operator_counts_for_nothing",),
    ),
    (
        "APR-8",
        "approvals/standing.py",
        "if not timedelta(0) < self.expires_at - self.given_at <= LONGEST:",
        "if False:",
        (f"{_ANSWERS}a_grant_without_sense_or_bounds_is_refused",),
    ),
    (
        "APR-8",
        "approvals/people.py",
        "if name not in self.operators:",
        "if False:",
        (f"{_GRANTS}only_an_operator_gives_signs_and_revokes_and_attempts_are_on_record",),
    ),
    (
        "APR-8",
        "runtime/standing.py",
        "admits=lambda grant: grant.id in shown",
        "admits=lambda grant: True",
        (f"{_GRANTS}a_call_that_already_waits_goes_on_waiting_for_its_votes",),
    ),
    (
        "APR-8",
        "runtime/recording.py",
        "before += used_grants(case, at=at)",
        "before += []",
        (f"{_GRANTS}a_granted_call_runs_without_a_vote_and_each_use_is_on_record",),
    ),
    (
        "APR-8",
        "store/journal.py",
        "for grant in warrant.grants:",
        "for grant in ():",
        (f"{_GRANTS}it_is_used_as_often_as_it_says_and_then_a_person_is_asked",),
    ),
    (
        "APR-8",
        _SQL,
        "WHERE tool = NEW.tool AND ended_at IS NULL\n",
        "WHERE tool = NEW.tool AND ended_at IS NULL AND 0\n",
        (f"{_GRANTS}changed_code_ends_a_grant_for_good",),
    ),
    (
        "OPS-8",
        "runtime/running.py",
        "raise CallFailed(",
        "raise RuntimeError(",
        (f"{_FREEZE}running_calls_of_the_scope_are_ended_and_recorded",),
    ),
    (
        "OPS-8",
        "runtime/freezes.py",
        "ended = self._parts.running.stop([freeze])",
        "ended = 0",
        (f"{_FREEZE}running_calls_of_the_scope_are_ended_and_recorded",),
    ),
    (
        "OPS-8",
        "runtime/watching.py",
        "        await end_frozen(parts)\n",
        "",
        (f"{_FREEZE}a_freeze_given_by_another_process_ends_running_calls_without_being_told",),
    ),
    (
        "OPS-8",
        "runtime/freezing.py",
        "self.lifted_at is None or started_at < self.lifted_at",
        "self.lifted_at is None",
        (f"{_FREEZE}a_freeze_that_was_lifted_before_anybody_looked_still_ends_what_ran_before_it",),
    ),
    (
        "OPS-8",
        "store/freezes.py",
        "for approval in waiting:",
        "for approval in ():",
        (f"{_FREEZE}what_waits_and_what_was_approved_is_void_and_stays_void",),
    ),
    (
        "OPS-8",
        "runtime/freezes.py",
        'await require_operator(self._parts, by, wanted="frozen")',
        "",
        (f"{_FREEZE}only_an_operator_freezes_and_unfreezes_and_attempts_are_on_record",),
    ),
    (
        "OPS-8",
        _START,
        "WHERE f.lifted_at IS NULL AND (f.agent",
        "WHERE 0 AND (f.agent",
        (f"{_FREEZE}nothing_starts_while_everything_is_frozen_and_it_does_afterwards",),
    ),
    (
        "OPS-8",
        _SQL,
        "    WHERE lifted_at IS NULL AND invocations.id = NEW.invocation_id\n",
        "    WHERE 0 AND invocations.id = NEW.invocation_id\n",
        (f"{_FREEZE}nothing_starts_while_everything_is_frozen_and_it_does_afterwards",),
    ),
    (
        "APR-6",
        "assembly/assemble.py",
        "        await look(parts)\n",
        "",
        (f"{_FREEZE}silence_is_refusal_without_anybody_asking",),
    ),
    (
        "APR-6",
        _START,
        "WHEN NEW.basis = 'votes' AND NEW.consumed_at >= (",
        "WHEN 0 AND NEW.consumed_at >= (",
        (f"{_FREEZE}the_database_starts_nothing_by_an_approval_whose_time_is_over",),
    ),
)
