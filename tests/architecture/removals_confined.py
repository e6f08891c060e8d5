"""The guards of the confined posture, of the doctor and of control groups: take one out, and a test goes red.

Takes: nothing.  Gives: `ROWS`, each (promise, file under `src/ringfence`, the exact source to find, what stands there
without the guard, the tests that miss it).  Never: removes anything itself.
"""

from __future__ import annotations

_ALLOWLIST = "tests/unit/kernel/test_allowlist_confined.py::test_"
_CGROUPS = "tests/unit/kernel/test_cgroups.py::test_"
_CONFINING = "tests/unit/sandbox/test_confining.py::test_"
_POSTURE = "tests/unit/sandbox/test_posture_confined.py::test_"
_REMEDIES = "tests/unit/kernel/test_remedies.py::test_"

ROWS: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    (
        "SBX-6",
        "sandbox/confining.py",
        'return "full" if "full" in by else "confined"',
        'return "confined"',
        (f"{_CONFINING}the_strictest_demand_counts",),
    ),
    (
        "SBX-6",
        "sandbox/confining.py",
        '    if demands == "full":\n',
        "    if False:\n",
        (f"{_CONFINING}below_what_is_demanded_nothing_runs_and_the_reason_is_told",),
    ),
    (
        "SBX-6",
        "sandbox/enforceable.py",
        "    if missing:\n",
        "    if False:\n",
        (f"{_CONFINING}a_need_that_this_posture_does_not_hold_is_not_enforceable",),
    ),
    (
        "SBX-6",
        "sandbox/confining.py",
        "        rules=_rules(layout),\n",
        "",
        (f"{_CONFINING}without_namespaces_what_was_mounted_is_readable_and_nothing_is_writable",),
    ),
    (
        "SBX-6",
        "sandbox/posture_confined.py",
        '    _refuse(problems, who="a confined spare")\n',
        "",
        (f"{_POSTURE}one_missing_mark_refuses_a_zygote_and_a_spare",),
    ),
    (
        "SBX-6",
        "sandbox/posture_confined.py",
        '    _refuse(_problems(seen, baseline=baseline, warden=warden, uid=uid, added=1), who="a confined zygote")\n',
        "    return\n",
        (f"{_POSTURE}one_missing_mark_refuses_a_zygote_and_a_spare",),
    ),
    (
        "SBX-6",
        "sandbox/posture_confined.py",
        '    _refuse(problems, who="the confined jail, measured from inside,")\n',
        "",
        (f"{_POSTURE}a_try_that_was_not_refused_refuses_the_jail",),
    ),
    (
        "SBX-6",
        "sandbox/posture_confined.py",
        "    if seen.pid == zygote.pid:\n",
        "    if False:\n",
        (f"{_POSTURE}the_zygote_does_not_pass_for_its_own_spare",),
    ),
    (
        "SBX-6",
        "sandbox/posture_confined.py",
        '    if os.geteuid() != 0 and seen.namespaces and shown == "hidden":\n',
        "    if False:\n",
        (f"{_POSTURE}a_process_that_does_not_hide_from_its_user_is_refused",),
    ),
    (
        "SBX-6",
        "kernel/allowlist_confined.py",
        "        *(WITHOUT_TRUNCATE if version < TRUNCATE_SINCE else ()),\n",
        "",
        (f"{_ALLOWLIST}nothing_is_emptied_where_landlock_cannot_refuse_that",),
    ),
    (
        "SBX-6",
        "kernel/allowlist_confined.py",
        "        *(WITHOUT_SCOPE if version < SIGNAL_SINCE else ()),\n",
        "",
        (f"{_ALLOWLIST}nobody_is_signalled_where_landlock_cannot_keep_signals_in",),
    ),
    (
        "SBX-6",
        "kernel/allowlist_confined.py",
        '    del table[NUMBERS["mount"]]\n',
        '    table[NUMBERS["mount"]] = allowlist.ALLOW\n',
        (f"{_ALLOWLIST}what_only_a_mount_or_a_namespace_made_harmless_is_refused",),
    ),
    (
        "SBX-9",
        "sandbox/exposed.py",
        "        _remove(self._base)\n",
        "",
        (f"{_CONFINING}an_exposed_source_can_be_read_by_all_who_know_its_name_and_is_gone_afterwards",),
    ),
    (
        "SBX-3",
        "kernel/cgroups.py",
        '.removesuffix(f"/{_LEAF}")',
        "",
        (f"{_CGROUPS}a_process_that_settled_before_makes_its_groups_beside_its_leaf",),
    ),
    (
        "SBX-3",
        "kernel/cgroups.py",
        "    if isinstance(ready, Unavailable):\n",
        "    if False:\n",
        (f"{_CGROUPS}a_hierarchy_that_does_not_settle_is_empty_and_says_why",),
    ),
    (
        "SBX-6",
        "kernel/closures.py",
        "if row.since > version)",
        "if row.since >= version)",
        (f"{_REMEDIES}every_right_that_an_older_landlock_lacks_is_closed_otherwise",),
    ),
)
