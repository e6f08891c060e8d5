"""The guards of secrets, one line each: take it out, and a test goes red.

Takes: nothing.  Gives: `ROWS`, each (promise, file under `src/ringfence`, the exact source to find, what stands there
without the guard, the tests that miss it).  Never: removes anything itself.
"""

from __future__ import annotations

_SOURCES = "tests/unit/secret_sources/test_sources.py::test_"
_VALUES = "tests/unit/execution/test_secret_values.py::test_"
_KNOWN = "tests/unit/sanitise/test_known.py::test_"
_SPINE = "tests/acceptance/spine/test_secrets.py::test_"
_EDGE = "tests/integration/edge/test_credentials.py::test_"
_OWN = "tests/integration/edge/test_own_clients.py::test_"
_ECHOES = "tests/integration/edge/test_echoes.py::test_"

ROWS: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    (
        "SEC-1",
        "secret_sources/private_file.py",
        "    if seen.st_mode & _OTHERS:\n",
        "    if False:\n",
        (f"{_SOURCES}a_file_that_others_can_open_is_not_read",),
    ),
    (
        "SEC-1",
        "secret_sources/private_file.py",
        "if seen.st_mode & _OTHERS_WRITE and not seen.st_mode & stat.S_ISVTX:",
        "if False:",
        (f"{_SOURCES}a_file_in_a_folder_where_others_can_swap_it_is_not_read",),
    ),
    (
        "SEC-1",
        "secret_sources/private_file.py",
        "    if not stat.S_ISREG(seen.st_mode):\n",
        "    if False:\n",
        (f"{_SOURCES}a_pipe_a_folder_and_nothing_are_no_file",),
    ),
    (
        "SEC-1",
        "execution/secrets.py",
        'raise TypeError("a secret value cannot be copied or pickled")',
        "return object.__reduce_ex__(self, 2)  # type: ignore",
        (f"{_VALUES}a_value_cannot_be_pickled_copied_or_listed",),
    ),
    (
        "SEC-1",
        "contract/secret.py",
        "        return self is not other\n",
        "        return str.__ne__(self, other)\n",
        (f"{_VALUES}two_are_equal_only_to_themselves",),
    ),
    (
        "SEC-3",
        "execution/secrets.py",
        "if len(self._of()) < LEAST_CHARACTERS:",
        "if False:",
        (f"{_SPINE}a_value_too_short_to_be_hidden_is_an_error_of_the_config",),
    ),
    (
        "SEC-3",
        "execution/strongbox.py",
        "            del known[:-_REMEMBERED]\n",
        "            del known[:-1]\n",
        (f"{_VALUES}a_rotated_value_is_used_by_the_next_call_and_the_old_one_is_still_known",),
    ),
    (
        "SEC-3",
        "sanitise/known.py",
        "cut = max(len(held) - LONGEST, self.scrubber.settled(held))",
        "cut = len(held)",
        (f"{_KNOWN}a_value_that_is_cut_by_the_borders_of_pieces_is_found",),
    ),
    (
        "SEC-3",
        "execution/scrubbing.py",
        "return scrubbed_output(await self._sandbox.run(job), scrubber=self._strongbox.scrubber)",
        "return await self._sandbox.run(job)",
        (f"{_SPINE}a_value_that_a_tool_says_leaves_in_no_text_log_or_file",),
    ),
    (
        "SEC-3",
        "execution/scrubbing.py",
        "            _scrub_record(record, scrubber=scrubber())\n",
        "            pass\n",
        (f"{_SPINE}a_log_record_and_its_traceback_are_scrubbed",),
    ),
    (
        "SEC-3",
        "runtime/pipeline.py",
        "        require_no_secret(case, scrubber=self._parts.strongbox.scrubber)\n",
        "        pass\n",
        (f"{_SPINE}a_model_that_passes_a_value_is_refused_and_the_value_is_kept_nowhere",),
    ),
    (
        "SEC-2",
        "edge/credentials.py",
        'return scheme == "https" and allows(',
        "return allows(",
        (f"{_EDGE}for_another_host_or_without_tls_it_is_refused",),
    ),
    (
        "SEC-2",
        "edge/credentials.py",
        "allows(placement.hosts, leads_to.host, leads_to.port)",
        "bool(placement.hosts)",
        (f"{_EDGE}for_another_host_or_without_tls_it_is_refused",),
    ),
    (
        "SEC-2",
        "edge/credentials.py",
        "mine = [each for each in own if each.header == name.lower()]",
        "mine = list(own)",
        (f"{_EDGE}anywhere_else_it_is_refused_and_noticed",),
    ),
    (
        "SEC-2",
        "edge/credentials.py",
        "        if placements.marks.names_in(text):\n",
        "        if False:\n",
        (f"{_EDGE}anywhere_else_it_is_refused_and_noticed",),
    ),
    (
        "SEC-2",
        "edge/gate.py",
        "            watched.check(content)\n",
        "",
        (f"{_OWN}what_is_revealed_has_a_placeholder_that_goes_nowhere",),
    ),
    (
        "SEC-2",
        "edge/mediate.py",
        "            require_no_value(onward, placements=call.terms.placements)\n",
        "",
        (f"{_EDGE}a_redirect_with_the_value_in_its_address_is_not_followed",),
    ),
    (
        "SEC-2",
        "edge/answers.py",
        "        yield stream.feed(piece)\n",
        "        yield piece\n",
        (f"{_ECHOES}a_body_is_searched_whatever_its_coding_and_its_chunks",),
    ),
    (
        "SEC-2",
        "execution/placing.py",
        "if self.reveal else shown",
        "if self.value else shown",
        (
            f"{_EDGE}no_process_of_a_jail_holds_the_value_while_it_is_used",
            f"{_EDGE}every_call_has_a_placeholder_of_its_own",
        ),
    ),
)
