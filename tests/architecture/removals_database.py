"""The guards of keys, rates, workers and the database, one line each: take it out, and a test goes red.

Takes: nothing.  Gives: `ROWS`, each (promise, file under `src/ringfence`, the exact source to find, what stands there
without the guard, the tests that miss it).  Never: removes anything itself.
"""

from __future__ import annotations

_ONCE = "tests/acceptance/database/test_once.py::test_"
_RATES = "tests/acceptance/database/test_rates.py::test_"
_FILE = ("tests/attack/test_database_bypass.py::test_no_statement_of_the_list_passes_on_a_file",)
_SQL = "store/sql/sqlite/migrations/0005_once.sql"
_START = "store/sql/sqlite/migrations/0009_one_look_at_a_start.sql"

ROWS: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    ("DB-3", "store/fence.py", "    connection.set_authorizer(_judge)\n", "", _FILE),
    ("DB-2", _START, "WHEN NEW.key_until IS NULL AND (t.safety_class", "WHEN 0 AND (t.safety_class", _FILE),
    ("DB-2", _SQL, "WHEN NEW.previous IS NOT CASE NEW.seq", "WHEN 0 AND NEW.previous IS NOT CASE NEW.seq", _FILE),
    (
        "IDM-2",
        _SQL,
        "WHEN (SELECT status FROM invocations WHERE id = OLD.invocation_id) IS NOT 'failed'",
        "WHEN 0",
        _FILE,
    ),
    (
        "IDM-2",
        "runtime/once.py",
        "if reserved.arguments_digest != case.known_call.digest:",
        "if False:",
        (f"{_ONCE}the_same_key_with_other_arguments_is_a_conflict[sqlite]",),
    ),
    (
        "IDM-2",
        "runtime/pipeline.py",
        "if (known := await self._once(case)) is not None:",
        "if (known := None) is not None:",
        (f"{_ONCE}the_same_key_and_arguments_give_the_recorded_result_and_run_nothing[sqlite]",),
    ),
    (
        "IDM-3",
        "runtime/calls.py",
        '        await require_operator(self._parts, by, wanted="call_settled")\n',
        "",
        (f"{_ONCE}an_operator_settles_a_call_in_doubt[sqlite-completed-completed]",),
    ),
    (
        "SCL-1",
        "runtime/watching.py",
        "            await end_lost(parts)\n",
        "",
        (f"{_ONCE}the_call_of_a_process_that_is_gone_is_in_doubt_and_a_read_has_failed[sqlite]",),
    ),
    (
        "POL-4",
        "policy/quotas.py",
        "return own if binding is None else own + _matching(binding.rates",
        "return own if binding is None else _matching(binding.rates",
        (f"{_RATES}a_binding_adds_to_the_agents_limits_and_never_loosens_them[sqlite]",),
    ),
    (
        "POL-4",
        "store/journal.py",
        "            draw_refusal(transaction, session=invocation.session, now=now)\n",
        "",
        (f"{_RATES}a_session_that_is_refused_too_often_rests_for_a_minute_and_others_do_not[sqlite]",),
    ),
)
