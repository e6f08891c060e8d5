"""The guards of pins and proof, one line each: take it out, and a test goes red.

Takes: nothing.  Gives: `ROWS`, each (promise, file under `src/ringfence`, the exact source to find, what stands there
without the guard, the tests that miss it).  Never: removes anything itself.
"""

from __future__ import annotations

_PINS = "tests/acceptance/spine/test_pins.py::test_"
_DIFF = "tests/unit/registry/test_diff.py::test_"
_BUNDLE = "tests/unit/audit/test_bundle.py::test_"

ROWS: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    (
        "REG-1",
        "registry/pins.py",
        "or (seen is not None and seen.fingerprint != pin.fingerprint)",
        "",
        (f"{_PINS}a_changed_contract_is_out_of_use_at_once_in_a_process_that_has_built_its_view",),
    ),
    (
        "REG-1",
        "registry/pins.py",
        "if vouched is None and offered.source in ledger.accepted_sources():",
        "if False:",
        (f"{_PINS}a_tool_added_beside_accepted_ones_waits_and_a_removed_one_shows",),
    ),
    (
        "REG-1",
        "registry/pins.py",
        'quarantine=CODE_CHANGED if code == "strict" else None',
        "quarantine=None",
        (f"{_PINS}changed_code_is_recorded_and_held_back_only_where_the_config_says_strict",),
    ),
    (
        "REG-1",
        "registry/pins.py",
        "if pin.trust is Trust.UNTRUSTED:",
        "if False:",
        (f"{_DIFF}a_contract_is_in_use_only_where_pin_sighting_and_process_agree",),
    ),
    (
        "REG-1",
        "runtime/pipeline.py",
        "            await self.look()  #                           REGISTER   as every process left it\n",
        "",
        (f"{_PINS}what_an_operator_accepts_is_in_use_at_once_and_what_was_pinned_before_is_not",),
    ),
    (
        "REG-1",
        "store/sql/sqlite/migrations/0009_one_look_at_a_start.sql",
        "WHEN i.fingerprint IS NOT NULL AND NOT EXISTS (",
        "WHEN i.fingerprint IS NULL AND NOT EXISTS (",
        (f"{_PINS}the_start_of_a_call_looks_at_the_pins_once_more",),
    ),
    (
        "REG-1",
        "store/pins.py",
        "                _void_waiting(transaction, registration, at=at, tell=tell)\n",
        "                pass\n",
        (f"{_PINS}a_call_that_waits_next_door_is_void_once_the_contract_changes",),
    ),
    (
        "REG-1",
        "store/pins.py",
        "                _require_as_shown(transaction, each)\n",
        "",
        (f"{_PINS}an_acceptance_is_for_what_was_shown_and_nothing_else",),
    ),
    (
        "REG-1",
        "runtime/pins.py",
        '        await require_operator(self._parts, by, wanted="pins_accepted")\n',
        "",
        (f"{_PINS}only_an_operator_accepts",),
    ),
    (
        "REG-1",
        "assembly/assemble.py",
        "        settled.electorate.require_operator(accept_as)\n",
        "        pass\n",
        (f"{_PINS}only_an_operator_accepts",),
    ),
    (
        "REG-1",
        "runtime/pins.py",
        'if each.kind == "failed_gate":',
        "if False:",
        (f"{_PINS}a_foreign_tool_that_fails_the_gate_is_in_no_view_and_nobody_can_accept_it",),
    ),
    (
        "REG-1",
        "registry/diff.py",
        "            yield _renamed(each, twin, contracts=contracts) if twin else each\n",
        "            yield each\n",
        (f"{_PINS}a_rename_does_not_dodge_the_pin_and_shows_as_a_rename",),
    ),
    (
        "REG-4",
        "runtime/case.py",
        '"description_hash": self.tool.tool.description_hash if self.tool else None,',
        '"description_hash": None,',
        (f"{_PINS}the_trail_has_each_description_at_registration_and_its_hash_at_every_call",),
    ),
    (
        "IDM-4",
        "audit/replay.py",
        'body["session"] == self._session',
        "body",
        (f"{_PINS}a_replay_tells_a_session_again_and_causes_nothing",),
    ),
    (
        "AUD-2",
        "audit/bundle.py",
        "    if report.key != key:\n",
        "    if False:\n",
        (f"{_BUNDLE}a_bundle_sealed_anew_with_another_key_fails_against_the_key_from_outside",),
    ),
    (
        "AUD-2",
        "audit/bundle.py",
        '            key.verify(bytes.fromhex(document["seal"]), _sealed(self._running.hexdigest()))\n',
        "",
        (f"{_BUNDLE}a_seal_of_another_key_under_our_header_fails",),
    ),
    (
        "AUD-2",
        "audit/retention.py",
        "return newest if newest is not None and newest.at >= self._before else None",
        "return None",
        (f"{_BUNDLE}a_body_that_nobody_let_go_is_a_problem",),
    ),
    (
        "AUD-2",
        "audit/retention.py",
        "return min(before, at) if",
        "return before if",
        (f"{_BUNDLE}an_act_of_retention_never_covers_what_came_after_it",),
    ),
    (
        "AUD-2",
        "runtime/audit.py",
        '        await require_operator(self._parts, by, wanted="bodies_removed")\n',
        "",
        (f"{_PINS}old_bodies_go_by_an_operators_act_and_the_chain_still_verifies",),
    ),
    (
        "AUD-2",
        "audit/retention.py",
        "    if retention is None:\n",
        "    if False:\n",
        (f"{_PINS}without_a_configured_time_no_body_goes",),
    ),
    (
        "SCL-1",
        "assembly/assemble.py",
        'if refused.code != "definition_changed":',
        "if True:",
        (
            "tests/acceptance/database/test_first_start.py::"
            "test_a_process_that_another_overtakes_while_it_registers_its_tools_goes_by_their_record[sqlite]",
        ),
    ),
)
