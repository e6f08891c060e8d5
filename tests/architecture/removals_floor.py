"""The guards that everything stands on: hosts, output, the store, the command line, rejections; one line each.

Takes: nothing.  Gives: `ROWS`, in the form of the other tables.  Never: removes anything itself.
"""

from __future__ import annotations

_HOSTS = "tests/unit/contract/test_hosts.py::test_"
_CLEAN = "tests/unit/sanitise/test_"
_STORE = "tests/integration/store/test_"
_VOTES = "tests/attack/test_votes.py::test_"
_INIT = "tests/acceptance/cli/test_init.py::test_"
_VIEW = "tests/acceptance/cli/test_status.py::test_"
_FIRST = "store/sql/sqlite/migrations/0001_first.sql"
_ONE_ROW = "store/sql/sqlite/migrations/0008_one_row_an_event.sql"

ROWS: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    (
        "NET-3",
        "contract/hosts.py",
        'return host.endswith("." + pattern.host)',
        "return host.endswith(pattern.host)",
        (f"{_HOSTS}a_wildcard_allows_sub_domains_at_any_depth_but_not_the_apex",),
    ),
    (
        "NET-3",
        "contract/hosts.py",
        "return any(port in pattern.ports and _reaches",
        "return any(_reaches",
        (f"{_HOSTS}a_port_in_the_pattern_is_the_only_port",),
    ),
    (
        "NET-3",
        "contract/hosts.py",
        "    if _is_public_suffix(base):\n",
        "    if False:\n",
        (f"{_HOSTS}a_pattern_that_is_too_wide_or_malformed_is_refused",),
    ),
    (
        "SAN-1",
        "sanitise/terminal.py",
        'edits.append(Edit(match.start(), at, kind, "", detail))',
        "pass",
        (f"{_CLEAN}terminal.py::test_a_sequence_is_removed_and_the_text_around_it_stays",),
    ),
    (
        "SAN-4",
        "sanitise/frame.py",
        "    if any(boundary in each for each in (text, *said)):\n",
        "    if False:\n",
        (f"{_CLEAN}frame.py::test_a_text_that_contains_its_boundary_is_refused",),
    ),
    (
        "SAN-4",
        "sanitise/frame.py",
        "    if not _BOUNDARY.fullmatch(boundary):\n",
        "    if False:\n",
        (f"{_CLEAN}frame.py::test_a_boundary_that_could_be_guessed_is_refused",),
    ),
    (
        "DB-1",
        "store/database.py",
        '"full": "PRAGMA synchronous = FULL"',
        '"full": "PRAGMA synchronous = NORMAL"',
        (f"{_STORE}durability.py::test_each_lane_is_as_durable_as_its_name",),
    ),
    (
        "AUD-2",
        _ONE_ROW,
        "        WHEN OLD.invocation_id IS NULL OR NOT EXISTS (SELECT 1 FROM audit_retentions WHERE OLD.at < before)\n",
        "        WHEN 0\n",
        (f"{_STORE}ledger.py::test_no_body_goes_without_an_operators_row_and_none_younger_than_it_says",),
    ),
    (
        "AUD-2",
        "store/sql/sqlite/queries/trail.sql",
        " + coalesce(max(id), 0) - count(*) FROM audit_events",
        "",
        (f"{_STORE}tampering.py::test_an_event_that_left_its_place_shows_though_its_chain_is_whole",),
    ),
    (
        "DB-2",
        _FIRST,
        "BEGIN SELECT RAISE(ABORT, 'vote_refused: a vote does not change'); END;",
        "BEGIN SELECT 1; END;",
        (f"{_VOTES}148_what_was_approved_cannot_be_changed_under_the_vote",),
    ),
    (
        "DB-2",
        "store/sql/sqlite/migrations/0009_one_look_at_a_start.sql",
        "t.requires_approval IS NOT 0 AND NOT EXISTS (\n",
        "t.requires_approval IS 2 AND NOT EXISTS (\n",
        (f"{_STORE}rules.py::test_an_allowed_warrant_starts_only_what_needs_no_approval",),
    ),
    (
        "OPS-1",
        "cli/project.py",
        "    if taken:\n",
        "    if False:\n",
        (f"{_INIT}nothing_that_exists_is_overwritten_and_then_nothing_is_written",),
    ),
    (
        "VIEW-5",
        "runtime/status.py",
        "for each in frozen if each.scope.agent in (None, name)",
        "for each in frozen if each.scope.agent == name",
        (f"{_VIEW}status_shows_every_freeze_that_stops_the_agent_and_why",),
    ),
    (
        "APR-5",
        "runtime/approving.py",
        "    if heard.is_enough:\n",
        "    if False:\n",
        (f"{_VOTES}153_the_third_try_at_a_rejected_call_stops_the_sessions_calls_to_that_tool",),
    ),
    (
        "APR-5",
        "runtime/approving.py",
        "    if alike is not None:\n",
        "    if False:\n",
        (f"{_VOTES}153_a_rejected_call_is_not_asked_again_in_other_clothes",),
    ),
    (
        "APR-5",
        "runtime/approving.py",
        "        if parts.rejections.concern(*_whose(case)):\n",
        "        if False:\n",
        (f"{_VOTES}153_three_rejections_in_a_row_stop_allowed_calls_of_the_tool_too",),
    ),
)
