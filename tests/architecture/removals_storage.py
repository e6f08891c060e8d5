"""The guards of storage, one line each: take it out, and a test goes red.

Takes: nothing.  Gives: `ROWS`, each (promise, file under `src/ringfence`, the exact source to find, what stands there
without the guard, the tests that miss it).  Never: removes anything itself.
"""

from __future__ import annotations

_DESK = "tests/unit/execution/test_storage_desk.py::test_"
_ATTACK = "tests/attack/test_storage.py::test_"
_CALLS = "tests/acceptance/storage/test_storage.py::test_"
_RULES = "tests/integration/store/test_storage_rules.py::test_"
_FILE = "tests/integration/store/test_conformance.py::TestSqlite::test_"
_SERVER = "tests/integration/store/test_conformance.py::TestPostgres::test_"
_SQLITE = "store/sql/sqlite/migrations/0006_storage.sql"
_POSTGRES = "store/sql/postgres/migrations/0004_storage.sql"

ROWS: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    (
        "STO-1",
        "execution/storage_desk.py",
        "for scope in scopes_of(job)}",
        'for scope in ("tool", "session", "agent")}',
        (f"{_DESK}a_scope_that_was_not_granted_is_refused_before_any_row_is_asked_for",),
    ),
    (
        "VIEW-6",
        "execution/storage.py",
        "return Namespace(agent=job.agent,",
        'return Namespace(agent="ana" if job.agent else "",',
        (f"{_ATTACK}no_scope_crosses_agents",),
    ),
    (
        "STO-1",
        "execution/storage.py",
        '{"tool": job.tool.name, "session": job.session, "agent": ""}',
        '{"tool": "any", "session": job.session, "agent": ""}',
        (f"{_DESK}a_namespace_is_of_the_call_and_nothing_else",),
    ),
    (
        "STO-1",
        "execution/storage_desk.py",
        "if warrant is None or warrant.invocation_id != job.invocation_id:",
        "if False:",
        (f"{_DESK}a_call_without_its_own_warrant_gets_no_desk",),
    ),
    (
        "SEC-3",
        "execution/storage_desk.py",
        "if self._strongbox.scrubber.names_in(text) or self._strongbox.marks.names_in(text):",
        "if self._strongbox.marks.names_in(text):",
        (f"{_ATTACK}a_secret_is_not_kept_and_the_operator_is_told[encoded]",),
    ),
    (
        "SEC-2",
        "execution/storage_desk.py",
        "if self._strongbox.scrubber.names_in(text) or self._strongbox.marks.names_in(text):",
        "if self._strongbox.scrubber.names_in(text):",
        (f"{_ATTACK}a_secret_is_not_kept_and_the_operator_is_told[placeholder]",),
    ),
    (
        "STO-1",
        "execution/storage_desk.py",
        "if size > self._quota.value_bytes:",
        "if False:",
        (f"{_DESK}a_value_that_is_too_long_is_refused_before_any_row_is_asked_for",),
    ),
    (
        "IDM-3",
        "execution/storage_desk.py",
        'if self._purpose != "call":',
        "if False:",
        (f"{_DESK}whoever_is_asked_about_an_earlier_call_reads_and_changes_nothing",),
    ),
    (
        "STO-1",
        "execution/storage_desk.py",
        'if self._did["questions"] > MOST_QUESTIONS or self._did["bytes_asked"] > MOST_BYTES_ASKED:',
        "if False:",
        (f"{_DESK}a_call_asks_only_so_often", f"{_DESK}a_call_asks_only_so_much_in_all"),
    ),
    (
        "STO-1",
        "execution/storage_desk.py",
        'code, message = "not_available", _UNUSABLE',
        'code = "not_available"',
        (f"{_DESK}a_write_counts_unless_the_store_says_that_nothing_was_changed",),
    ),
    (
        "STO-1",
        "execution/storage_questions.py",
        " or frozenset(said) != _ALWAYS | QUESTIONS[ask]",
        "",
        (f"{_ATTACK}a_question_of_another_shape_is_refused_whole_and_told_to_the_operator",),
    ),
    (
        "STO-1",
        "execution/storage_desk.py",
        "if len(body) > 2 * self._quota.value_bytes + _AROUND:",
        "if False:",
        (f"{_DESK}a_question_far_above_the_quota_is_not_even_read",),
    ),
    (
        "CON-9",
        "execution/retry.py",
        'if raw.effects.storage is not None and raw.effects.storage["writes"] and',
        "if False and",
        (f"{_CALLS}a_tool_that_reads_is_tried_again_unless_it_kept_something[1-1]",),
    ),
    (
        "STO-1",
        "runtime/noticing.py",
        'if refusal["weight"] == "grave"]',
        "if False]",
        (f"{_ATTACK}a_scope_that_was_not_declared_is_refused_and_told_to_the_operator[get-agent]",),
    ),
    (
        "STO-1",
        "runtime/watching.py",
        "            await parts.store.storage.drop_expired()\n",
        "",
        (f"{_CALLS}a_row_is_gone_when_its_time_is_over_and_swept_from_the_store",),
    ),
    (
        "STO-1",
        "sandbox/answering.py",
        "if self._work is not None and not self._work.done():",
        "if False:",
        (f"{_ATTACK}frames_out_of_turn_end_the_call[two at once]",),
    ),
    (
        "STO-1",
        "inside/wire.py",
        "most=self._most_asked)",
        "most=1 << 40)",
        (f"{_ATTACK}frames_out_of_turn_end_the_call[endless]",),
    ),
    (
        "SBX-7",
        "sandbox/local.py",
        'if job.kind == "process" and "storage" in job.grant.kinds:',
        "if False:",
        (f"{_CALLS}a_program_that_is_a_tool_is_refused_storage_before_it_starts",),
    ),
    (
        "STO-1",
        "store/storage.py",
        "if (found[0] if found else _ABSENT) != expected:",
        "if False:",
        (f"{_FILE}a_swap_holds_where_what_is_there_is_as_expected",),
    ),
    (
        "STO-1",
        "store/storage.py",
        "    if count > quota.rows:\n",
        "    if False:\n",
        (f"{_FILE}more_rows_than_the_quota_are_refused_until_one_goes",),
    ),
    (
        "STO-1",
        "store/storage.py",
        "    if size > quota.bytes:\n",
        "    if False:\n",
        (f"{_FILE}more_bytes_than_the_quota_are_refused_and_change_nothing",),
    ),
    (
        "STO-1",
        "store/storage.py",
        "    if in_all > quota.agent_bytes:\n",
        "    if False:\n",
        (f"{_FILE}an_agent_has_a_quota_over_all_its_namespaces",),
    ),
    (
        "STO-1",
        "store/sql/sqlite/queries/storage.sql",
        "AND key = ?4 AND (expires_at IS NULL OR expires_at > ?5)\n\n-- name: storage_change",
        "AND key = ?4 AND ?5 <> ''\n\n-- name: storage_change",
        (f"{_FILE}a_row_is_not_there_from_the_moment_its_time_is_over",),
    ),
    (
        "STO-1",
        "store/sql/postgres/queries/storage.sql",
        "SELECT pg_advisory_xact_lock(hashtextextended($1, 7240004))",
        "SELECT $1::text",
        (f"{_SERVER}of_many_swaps_at_once_one_wins", f"{_SERVER}writers_at_once_do_not_pass_the_quota_together"),
    ),
    (
        "VIEW-6",
        _SQLITE,
        "CREATE TRIGGER storage_rows_written BEFORE INSERT ON storage_rows\n",
        "CREATE TRIGGER storage_rows_written BEFORE INSERT ON storage_rows WHEN 0\n",
        (f"{_RULES}a_file_admits_no_row_that_is_not_its_writers[another agent]",),
    ),
    (
        "VIEW-6",
        _SQLITE,
        "CREATE TRIGGER storage_rows_changed BEFORE UPDATE ON storage_rows\n",
        "CREATE TRIGGER storage_rows_changed BEFORE UPDATE ON storage_rows WHEN 0\n",
        (f"{_RULES}a_file_lets_no_row_move_or_be_replaced",),
    ),
    (
        "STO-1",
        _SQLITE,
        "CREATE TRIGGER storage_rows_removed AFTER DELETE ON storage_rows\n",
        "CREATE TRIGGER storage_rows_removed AFTER DELETE ON storage_rows WHEN 0\n",
        (f"{_RULES}what_is_counted_is_what_there_is",),
    ),
    (
        "VIEW-6",
        _POSTGRES,
        "    IF NOT FOUND THEN\n",
        "    IF false THEN\n",
        (f"{_RULES}a_server_admits_no_row_that_is_not_its_writers[another agent]",),
    ),
    (
        "DB-3",
        "store/sql/postgres/grants.sql",
        "REVOKE SELECT ON storage_rows FROM ringfence_approver, ringfence_operator;\n",
        "",
        (f"{_RULES}each_role_does_its_own_part_with_rows",),
    ),
)
