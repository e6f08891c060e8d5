"""The guards of granted files and programs, one line each: take one out, and a test goes red.

Takes: nothing.  Gives: `ROWS`: id, file, what to find, what stands there without the guard, and who sees it.
Never: removes anything itself; `test_removals.py` does, on a copy.
"""

from __future__ import annotations

_PATHS = "tests/unit/inside/test_files.py::test_"
_GRANTING = "tests/unit/sandbox/test_granting.py::test_"
_LISTING = "tests/unit/sandbox/test_listing.py::test_"
_PROGRAMS = "tests/unit/sandbox/test_programs.py::test_"
_TOOLMD = "tests/unit/importers/test_toolmd.py::test_"
_RACES = "tests/attack/test_path_races.py::test_"

ROWS: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    (
        "SBX-4",
        "kernel/beneath.py",
        "STAY_BENEATH = Resolve.BENEATH | Resolve.NO_MAGIC_LINKS\n",
        "STAY_BENEATH = Resolve.NO_MAGIC_LINKS\n",
        (f"{_PATHS}what_leaves_is_not_opened_either", f"{_RACES}a_folder_that_becomes_a_link_never_leads_out"),
    ),
    (
        "SBX-4",
        "kernel/beneath.py",
        '    if b"\\0" in encoded:\n',
        '    if b"\\0" in b"":\n',
        (f"{_PATHS}a_path_with_a_nul_is_never_cut_short",),
    ),
    (
        "SBX-4",
        "inside/files.py",
        "            if not settled:\n",
        "            if None:\n",
        (f"{_PATHS}a_path_that_leaves_its_root_is_not_reachable",),
    ),
    (
        "SBX-4",
        "inside/files.py",
        "    if stat.S_ISREG(mode):\n",
        "    if stat.S_IFMT(mode):\n",
        (f"{_PATHS}a_pipe_or_a_socket_is_refused_and_nobody_waits_for_it",),
    ),
    (
        "SBX-4",
        "inside/grants.py",
        "        if identity_of(seen) != identity:\n",
        "        if not seen:\n",
        (f"{_RACES}a_grant_whose_name_leads_to_another_folder_by_now_is_not_mounted",),
    ),
    (
        "SBX-4",
        "sandbox/granting.py",
        "        if objection is not None:\n",
        "        if objection == 0:\n",
        (f"{_GRANTING}a_name_of_the_floor_is_never_granted",),
    ),
    (
        "SBX-4",
        "sandbox/floor.py",
        "            if other.is_relative_to(parts):\n",
        "            if other == parts:\n",
        (f"{_GRANTING}a_granted_folder_with_the_store_in_it_is_refused",),
    ),
    (
        "SBX-4",
        "sandbox/floor.py",
        "path != folder and path.is_relative_to(folder)",
        "path.is_relative_to(folder)",
        (f"{_GRANTING}what_ringfence_lives_by_is_never_granted_but_an_agents_own_folder_is",),
    ),
    (
        "SBX-8",
        "sandbox/listing.py",
        "    complete = alone and before.whole",
        "    complete = before.whole",
        (f"{_LISTING}too_many_entries_or_another_call_make_it_partial",),
    ),
    (
        "SBX-8",
        "sandbox/listing.py",
        "    return seen.st_ino, seen.st_size, seen.st_ctime_ns\n",
        "    return seen.st_ino, seen.st_size, seen.st_mtime_ns\n",
        (f"{_LISTING}a_time_that_was_set_back_hides_nothing",),
    ),
    (
        "SBX-5",
        "sandbox/programs.py",
        "    if head.script and os.path.realpath(head.script[0]) not in files:\n",
        "    if None:\n",
        (f"{_PROGRAMS}a_script_needs_its_interpreter_listed_too",),
    ),
    (
        "SBX-5",
        "sandbox/programs.py",
        "    if path.is_relative_to(SCRATCH) or any(path.is_relative_to(place) for place in writable):\n",
        "    if path.is_relative_to(SCRATCH):\n",
        (f"{_PROGRAMS}a_program_that_the_call_could_write_is_refused",),
    ),
    (
        "SBX-5",
        "sandbox/programs.py",
        "        if safety is Safety.READ and reason is not None:\n",
        "        if reason == 0:\n",
        (f"{_PROGRAMS}an_interpreter_under_another_name_is_one_all_the_same",),
    ),
    (
        "SBX-5",
        "contract/tool.py",
        "        if isinstance(need, Processes) and tool.safety is Safety.READ:\n",
        "        if isinstance(need, Processes) and tool is None:\n",
        (f"{_PROGRAMS}a_tool_that_reads_lists_no_interpreter",),
    ),
    (
        "SBX-5",
        "sandbox/library.py",
        "    return head.program and not head.script\n",
        "    return False\n",
        (f"{_PROGRAMS}programs_among_libraries_are_found_and_libraries_are_not",),
    ),
    (
        "CON-11",
        "contract/written.py",
        '    model_config = ConfigDict(extra="forbid", frozen=True)\n',
        "    model_config = ConfigDict(frozen=True)\n",
        (f"{_TOOLMD}what_is_wrong_is_named",),
    ),
    (
        "CON-11",
        "importers/toolmd.py",
        "    entry = relative_path(path)\n",
        "    entry = path\n",
        (f"{_TOOLMD}what_is_wrong_is_named",),
    ),
)
