"""The guards of programs' own files, of lists left to the agent, and of the toolbox: take one out, a test goes red.

Takes: nothing.  Gives: `ROWS`: id, file, what to find, what stands there without the guard, and who sees it.
Never: removes anything itself; `test_removals.py` does, on a copy.
"""

from __future__ import annotations

_LIBRARIES = "tests/unit/sandbox/test_libraries.py::test_"
_CAPABILITIES = "tests/unit/contract/test_capabilities.py::test_"
_PROFILE = "tests/unit/agents/test_profile.py::test_"
_SNAPSHOT = "tests/unit/sandbox/test_snapshot.py::test_"
_PROCESSES = "tests/integration/sandbox/test_processes.py::test_"
_FILES = "tests/integration/sandbox/test_program_files.py::test_"
_OUTPUT = "tests/unit/inside/test_process_output.py::test_"
_TOOLS = "tests/unit/tools/test_"
_TOOLBOX = "tests/acceptance/toolbox/test_toolbox.py::test_"

ROWS: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    (
        "SBX-5",
        "sandbox/libraries.py",
        'if spelled.startswith("/") and "$" not in spelled:',
        "if spelled:",
        (f"{_LIBRARIES}a_folder_that_depends_on_where_the_caller_stands_is_not_looked_in",),
    ),
    (
        "SBX-5",
        "sandbox/libraries.py",
        "if known is None or any(_library(each.place) != each for each in known):",
        "if known is None:",
        (f"{_LIBRARIES}a_library_that_was_replaced_is_looked_up_again",),
    ),
    (
        "SBX-5",
        "sandbox/with_programs.py",
        "for at, to in ways if not _within_any(at, mounted)]",
        "for at, to in ways]",
        (f"{_LIBRARIES}a_name_that_comes_with_its_folder_is_not_made_and_what_it_leads_to_is",),
    ),
    (
        "SBX-5",
        "sandbox/drafts.py",
        "            require_unchangeable(library, granted)\n",
        "            str(library)\n",
        (f"{_FILES}a_library_that_the_call_could_write_keeps_the_program_from_running",),
    ),
    (
        "SBX-5",
        "sandbox/drafts.py",
        "            if not unread:\n",
        "            if found:\n",
        (f"{_PROCESSES}a_job_that_was_judged_before_libraries_were_read_runs_with_their_programs_hidden",),
    ),
    (
        "SBX-10",
        "sandbox/local.py",
        "        await self._drafts.read_folders(job)\n",
        "",
        (f"{_TOOLBOX}folders_of_libraries_are_never_read_on_the_event_loop",),
    ),
    (
        "SBX-8",
        "sandbox/tree.py",
        "default=0) - len(markers[:1])",
        "default=0)",
        (f"{_PROCESSES}the_host_counts_what_a_call_started",),
    ),
    (
        "SBX-8",
        "sandbox/local.py",
        "max(cpu_seconds, said.tree.cpu_seconds) if said.tree else cpu_seconds",
        "cpu_seconds",
        (f"{_PROCESSES}what_was_started_before_a_kill_is_counted_and_so_is_its_time",),
    ),
    (
        "CON-12",
        "inside/process_output.py",
        "room = len(piece) if self._keep is None else max(0, self._keep - len(self.kept))",
        "room = len(piece)",
        (f"{_OUTPUT}no_more_is_kept_than_was_asked_for_and_the_rest_is_counted",),
    ),
    (
        "CON-6",
        "contract/capabilities.py",
        "    if len(listed) > 1:\n",
        "    if not listed:\n",
        (f"{_CAPABILITIES}who_leaves_a_list_to_the_agent_names_nothing_beside_it",),
    ),
    (
        "SBX-5",
        "contract/tool.py",
        '            if need.listed_by == "agent":\n',
        "            if need.is_empty:\n",
        (f"{_CAPABILITIES}a_tool_that_reads_leaves_no_binaries_to_the_agent",),
    ),
    (
        "VIEW-4",
        "agents/profile.py",
        'case Network(listed_by="agent") if permits.network.is_empty:',
        'case Network(listed_by="nobody"):',
        (f"{_PROFILE}an_agent_without_permits_is_granted_nothing_that_can_be_listed",),
    ),
    (
        "VIEW-4",
        "agents/profile.py",
        'case Processes(listed_by="agent") if permits.processes.is_empty:',
        'case Processes(listed_by="nobody"):',
        (f"{_PROFILE}an_agent_without_permits_is_granted_nothing_that_can_be_listed",),
    ),
    (
        "CON-13",
        "sandbox/snapshot.py",
        "    if parts[0] == _OWN:\n",
        "    if parts[0] == _MANIFEST:\n",
        (f"{_SNAPSHOT}the_toolbox_is_the_installed_one_and_nothing_else_of_ringfence_holds_tools",),
    ),
    (
        "CON-13",
        "inside/importing.py",
        "        ringfence.__path__.insert(0, os.path.join(sys.path[0], package))\n",
        "        os.path.join(sys.path[0], package)\n",
        (f"{_TOOLBOX}what_runs_is_the_kept_copy",),
    ),
    (
        "OPS-9",
        "tools/walking.py",
        "return os.lstat(path).st_mode",
        "return os.stat(path).st_mode",
        (f"{_TOOLS}searching.py::test_links_are_not_followed",),
    ),
    (
        "OPS-9",
        "tools/reading.py",
        "(line := file.readline(room))",
        "(line := file.readline())",
        (f"{_TOOLS}reading.py::test_a_line_that_never_fits_is_cut_and_the_next_one_can_be_had",),
    ),
    (
        "OPS-9",
        "tools/writing.py",
        '_MODES = {"create": "xb"',
        '_MODES = {"create": "wb"',
        (f"{_TOOLS}writing.py::test_an_existing_file_is_left_alone_unless_told",),
    ),
    (
        "OPS-9",
        "tools/python_code.py",
        "piece = text[: self._most - self._held]",
        "piece = text",
        (f"{_TOOLS}python_code.py::test_what_is_too_long_is_cut",),
    ),
)
