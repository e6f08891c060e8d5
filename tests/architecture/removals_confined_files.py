"""The guards of granted files without namespaces: take one out, and a test goes red.

Takes: nothing.  Gives: `ROWS`, each (promise, file under `src/ringfence`, the exact source to find, what stands there
without the guard, the tests that miss it).  Never: removes anything itself.
"""

from __future__ import annotations

_FILES = "tests/unit/sandbox/test_confined_files.py::test_"
_STEPS = "tests/unit/inside/test_steps.py::test_"
_CLIENT = "tests/unit/inside/test_files.py::test_"
_SAME = (f"{_STEPS}a_path_ends_where_the_kernel_would_have_it_end",)
_NO_RULE = (f"{_FILES}a_name_that_leads_to_another_folder_by_now_makes_no_rule",)
_NOT_ROOTS = (f"{_FILES}files_of_root_or_of_two_owners_are_not_served_by_root",)
_MEASURED = (f"{_FILES}a_grant_that_holds_more_than_it_says_refuses_the_jail",)

_SET_ID = "tests/unit/kernel/test_allowlist_files.py::test_"

ROWS: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    (
        "SBX-4",
        "inside/confined.py",
        "        if identity_of(os.fstat(found)) != granted.identity:\n",
        "        if False:\n",
        _NO_RULE,
    ),
    (
        "SBX-4",
        "inside/confined.py",
        '"read": landlock.READ,',
        '"read": landlock.WRITE,',
        (f"{_FILES}a_rule_is_for_the_very_folder_and_for_no_more_than_was_granted",),
    ),
    (
        "SBX-4",
        "inside/measure_confined.py",
        '    return (link, folder) if granted.access == "read" else (link,)\n',
        "    return ()\n",
        _MEASURED,
    ),
    (
        "SBX-4",
        "inside/measure_confined.py",
        '        return (write,) if granted.access == "read" else ()\n',
        "        return ()\n",
        _MEASURED,
    ),
    ("SBX-4", "inside/steps.py", '        if path.startswith("/"):\n', "        if False:\n", _SAME),
    (
        "SBX-4",
        "inside/steps.py",
        "        if len(self._folders) == 1:\n",
        "        if len(self._folders) == 0:\n",
        _SAME,
    ),
    (
        "SBX-4",
        "inside/steps.py",
        "            elif target is not None and (self._pending or not flags & os.O_NOFOLLOW):\n",
        "            elif False:\n",
        _SAME,
    ),
    ("SBX-4", "inside/steps.py", "        if self._links < 0:\n", "        if self._links < -1:\n", _SAME),
    (
        "SBX-4",
        "inside/steps.py",
        "        if failure.errno != errno.ENOSYS or not resolve & Resolve.BENEATH:\n",
        "        if not resolve & Resolve.BENEATH:\n",
        (f"{_STEPS}only_a_hidden_call_is_walked_round",),
    ),
    (
        "SBX-9",
        "inside/steps.py",
        "        for folder in self._folders:\n            os.close(folder)\n",
        "        return\n",
        (f"{_STEPS}no_descriptor_is_left_however_a_walk_ends",),
    ),
    (
        "SBX-6",
        "sandbox/enforceable.py",
        '{"files": _everybodys_folder}',
        "{}",
        (f"{_FILES}a_folder_that_is_everybodys_is_not_granted",),
    ),
    ("SBX-3", "sandbox/footing.py", "    if uid == 0:\n", "    if False:\n", _NOT_ROOTS),
    (
        "SBX-3",
        "sandbox/footing.py",
        "    if any(other != uid for other, _ in owners):\n",
        "    if False:\n",
        _NOT_ROOTS,
    ),
    (
        "SBX-3",
        "sandbox/footing.py",
        "    return uid, gid or uid\n",
        "    return uid, gid\n",
        (f"{_FILES}a_folder_of_roots_group_does_not_put_its_owner_into_that_group",),
    ),
    (
        "SBX-4",
        "sandbox/footing.py",
        "    if identity_of(seen) != granted.identity:\n",
        "    if False:\n",
        (f"{_FILES}a_folder_that_was_replaced_or_is_gone_has_no_owner",),
    ),
    (
        "SBX-3",
        "sandbox/identities.py",
        "        if uid in self._lent:\n            self._lent.remove(uid)\n",
        "        if True:\n",
        (f"{_FILES}an_owners_id_is_lent_to_nobody_afterwards",),
    ),
    (
        "SBX-3",
        "sandbox/confining.py",
        " if layout.writable() else 0\n",
        "\n",
        (f"{_FILES}without_a_folder_to_write_no_file_can_be_written_at_all",),
    ),
    (
        "SBX-4",
        "inside/file_client.py",
        "            self._require_granted(path)\n            raise\n\n    def open(",
        "            raise\n\n    def open(",
        (f"{_CLIENT}the_client_lists_what_was_granted_and_nothing_beside_it",),
    ),
    (
        "SBX-4",
        "kernel/allowlist_files.py",
        '    Row("open", "no new file with a set-id bit", _plain_if_made(1)),\n',
        "",
        (f"{_SET_ID}no_file_is_made_with_a_set_id_bit",),
    ),
    (
        "SBX-4",
        "kernel/allowlist_files.py",
        "_MAKES_A_FILE = os.O_CREAT | 0o2000_0000",
        "_MAKES_A_FILE = os.O_CREAT",
        (f"{_SET_ID}no_file_is_made_with_a_set_id_bit",),
    ),
    (
        "SBX-4",
        "kernel/allowlist_files.py",
        '    Row("openat2", "the mode of a new file lies behind a pointer; libraries fall back to openat", _ABSENT),\n',
        "",
        (f"{_SET_ID}a_mode_that_a_filter_cannot_see_is_not_taken",),
    ),
    (
        "SBX-4",
        "kernel/allowlist_files.py",
        "(*MAKING, *CHANGING)",
        "MAKING",
        (f"{_SET_ID}no_set_id_bit_is_added_later",),
    ),
    (
        "SBX-6",
        "kernel/allowlist_confined.py",
        "        if isinstance(one, ArgumentCheck) and isinstance(other, ArgumentCheck):\n",
        "        if False:\n",
        (f"{_SET_ID}an_older_landlocks_look_at_the_flags_counts_too",),
    ),
    (
        "SBX-4",
        "inside/confined.py",
        ', "files": MAKING}',
        "}",
        (f"{_SET_ID}without_namespaces_no_mode_is_changed_whatever_was_granted",),
    ),
)
