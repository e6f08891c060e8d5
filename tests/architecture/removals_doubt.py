"""The guards of doubt and money, one line each: take it out, and a test goes red.

Takes: nothing.  Gives: `ROWS`, each (promise, file under `src/ringfence`, the exact source to find, what stands there
without the guard, the tests that miss it).  Never: removes anything itself.
"""

from __future__ import annotations

_TRACES = "tests/unit/execution/test_traces.py::test_"
_RETRY = "tests/unit/execution/test_retry.py::test_"
_LISTING = "tests/unit/sandbox/test_listing.py::test_"
_ONCE = "tests/acceptance/database/test_once.py::test_"
_RECONCILE = "tests/acceptance/database/test_reconcile.py::test_"
_SPENDING = "tests/acceptance/database/test_spending.py::test_"
_FILE = ("tests/attack/test_database_bypass.py::test_no_statement_of_the_list_passes_on_a_file",)
_SQL = "store/sql/sqlite/migrations/0007_spending.sql"
_NO_ANSWER = (f"{_RECONCILE}an_answer_that_is_none_leaves_the_call_in_doubt",)
_NO_TEXT = (f"{_SPENDING}a_text_counts_only_where_it_is_plain_digits",)
_BY_PROCESSES = (f"{_SPENDING}processes_spend_from_one_cap[sqlite]",)

ROWS: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    # what shows that nothing happened
    (
        "IDM-3",
        "execution/traces.py",
        "        return False\n    lines",
        "        return True\n    lines",
        (f"{_TRACES}what_was_not_measured_is_not_shown",),
    ),
    (
        "IDM-3",
        "execution/traces.py",
        "for count in (network, *lines))",
        "for count in (network,))",
        (f"{_TRACES}a_byte_out_or_a_count_that_is_missing_shows_nothing",),
    ),
    (
        "IDM-3",
        "execution/traces.py",
        "return type(count) is int and count == 0",
        "return not count",
        (f"{_TRACES}a_byte_out_or_a_count_that_is_missing_shows_nothing",),
    ),
    (
        "IDM-3",
        "execution/traces.py",
        'return only_reads or files == {"written": [], "removed": [], "coverage": "whole"}',
        'return only_reads or not (files or {}).get("written")',
        (f"{_TRACES}a_file_or_a_partial_listing_shows_nothing",),
    ),
    (
        "IDM-3",
        "runtime/recording.py",
        "or left_nothing(case.grant, effects)\n",
        "or True\n",
        (f"{_ONCE}a_call_in_doubt_keeps_its_key_for_longer_than_any_time[sqlite]",),
    ),
    (
        "SBX-8",
        "sandbox/listing.py",
        "if before.folders.get(path) != state]",
        "if False]",
        (f"{_LISTING}that_nothing_was_written_is_said_only_where_the_folders_are_the_same_too",),
    ),
    (
        "SBX-8",
        "sandbox/listing.py",
        "complete and before.telling and (",
        "complete and (",
        (f"{_LISTING}where_a_file_can_be_written_without_a_trace_nothing_is_sure",),
    ),
    (
        "SBX-8",
        "sandbox/listing.py",
        "(bool(written) or before.settled)",
        "True",
        (f"{_LISTING}a_change_just_before_the_look_leaves_open_what_came_after_it",),
    ),
    (
        "CON-9",
        "execution/retry.py",
        "or left_nothing(job.grant, raw.effects)",
        "or True",
        (f"{_RETRY}a_call_that_changes_something_is_repeated_only_where_nothing_left",),
    ),
    (
        "CON-9",
        "execution/retry.py",
        "raw.fault.code not in PASSING",
        "False",
        (f"{_RETRY}a_call_that_changes_something_is_repeated_only_where_nothing_left",),
    ),
    # a tool that is asked about its own call
    (
        "IDM-3",
        "runtime/reconciling.py",
        "if word is None or reply.for_model is not None:",
        "if word is None:",
        _NO_ANSWER,
    ),
    (
        "IDM-3",
        "runtime/reconciling.py",
        "        clean = cleanse(replace(reply, output=output), shape=question.tool.shape)\n",
        "        from types import SimpleNamespace as Bare\n"
        "        clean = Bare(output=output, text=str(output), findings=())\n",
        _NO_ANSWER,
    ),
    (
        "IDM-3",
        "runtime/reconciling.py",
        "    await require_thawed(parts, agent=question.doubted.invocation.agent, tool=question.tool.name)\n",
        "",
        (f"{_RECONCILE}while_calls_are_frozen_nothing_is_asked[sqlite]",),
    ),
    (
        "AUD-3",
        "runtime/reconciling.py",
        "    await parts.store.append([_started(parts, question, job)])\n",
        "",
        (f"{_RECONCILE}a_trail_that_cannot_be_written_has_nothing_asked[sqlite]",),
    ),
    (
        "IDM-3",
        "runtime/reconciling.py",
        "grant=only_asking(whole),",
        "grant=whole,",
        (f"{_RECONCILE}what_is_asked_can_write_nowhere[sqlite]",),
    ),
    (
        "IDM-3",
        "runtime/pipeline.py",
        "        self._grant(case)\n        self._authorize(case)\n        question",
        "        question",
        (f"{_RECONCILE}an_agent_that_could_not_make_the_call_any_more_has_nothing_asked[sqlite]",),
    ),
    (
        "IDM-3",
        "runtime/calls.py",
        '        await require_operator(self._parts, by, wanted="reconcile_started")\n',
        "",
        (f"{_RECONCILE}an_operator_has_the_tool_asked[sqlite]",),
    ),
    # money
    ("POL-2", _SQL, "        WHEN NEW.amount > NEW.most - (", "        WHEN 0 AND NEW.amount > NEW.most - (", _FILE),
    (
        "POL-2",
        _SQL,
        "        WHEN OLD.basis = 'amount' AND NEW.amount IS NOT OLD.amount AND NOT (",
        "        WHEN 0 AND NOT (",
        _FILE,
    ),
    (
        "POL-2",
        _SQL,
        "BEGIN SELECT RAISE(ABORT, 'misuse: what was spent stays on record'); END;",
        "BEGIN SELECT 1; END;",
        _FILE,
    ),
    (
        "POL-2",
        "store/journal.py",
        "            spending.reserve(transaction, spends, invocation_id=invocation.id, now=now)\n",
        "",
        _BY_PROCESSES,
    ),
    ("POL-2", "policy/spending.py", "    if not _DECIMAL.fullmatch(said):", "    if not said:", _NO_TEXT),
    (
        "POL-2",
        "policy/spending.py",
        "        if _at(arguments, way) != word:",
        "        if False:",
        (f"{_SPENDING}an_amount_that_is_missing_or_in_another_unit_is_denied[sqlite]",),
    ),
    (
        "POL-2",
        "policy/authorize.py",
        "    yield from beyond(proposal)\n",
        "",
        (f"{_SPENDING}an_amount_that_is_none_or_too_much_is_denied_before_anything_is_asked",),
    ),
    (
        "SBX-8",
        "runtime/spending.py",
        "spent=billionths(cost) if case.spends else None",
        "spent=0 if case.spends else None",
        (f"{_SPENDING}what_a_call_costs_is_reserved_whole_and_settled_by_what_was_measured[sqlite]",),
    ),
)
