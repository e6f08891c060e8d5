"""The guards of secrets on the wire, one line each: take it out, and a test goes red.

Takes: nothing.  Gives: `ROWS`, as `removals_secrets.py` does.  Never: removes anything itself.
"""

from __future__ import annotations

_OWN = "tests/integration/edge/test_own_clients.py::test_"
_ECHOES = "tests/integration/edge/test_echoes.py::test_"
_ACCOUNTS = "tests/acceptance/secrets/test_accounts.py::test_"
_FOLDERS = "tests/acceptance/secrets/test_tool_folders.py::test_"
_KNOWN = "tests/unit/sanitise/test_known.py::test_"

ROWS: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    (
        "SEC-2",
        "edge/gate.py",
        "            placed_lines(head, placements=placements, leads_to=destination, scheme=self.scheme)\n",
        "            pass\n",
        (f"{_OWN}anywhere_else_it_is_refused_noticed_and_nothing_leaves",),
    ),
    (
        "SEC-2",
        "edge/gate.py",
        "            require_unplaced(head, placements=placements, where=str(destination))\n",
        "            pass\n",
        (f"{_OWN}what_is_revealed_has_a_placeholder_that_goes_nowhere",),
    ),
    (
        "SEC-2",
        "edge/credentials.py",
        '    _require_none(placements, [("the target", start), ("the target", head.target)], where=str(leads_to))\n',
        "",
        (f"{_OWN}anywhere_else_it_is_refused_noticed_and_nothing_leaves",),
    ),
    (
        "SEC-2",
        "edge/credentials.py",
        '            _require_none(self._placements, [("the body", seen)], where=self._where)\n',
        "            pass\n",
        (f"{_OWN}anywhere_else_it_is_refused_noticed_and_nothing_leaves",),
    ),
    (
        "SEC-2",
        "edge/credentials.py",
        "        cut = max(len(seen) - LONGEST, 0)\n",
        "        cut = len(seen)\n",
        (f"{_OWN}of_a_body_too_long_to_be_held_no_part_of_a_placeholder_leaves",),
    ),
    (
        "SEC-2",
        "edge/searching.py",
        "while held < MOST_HELD and not self.is_read:",
        "while False:",
        (f"{_OWN}anywhere_else_it_is_refused_noticed_and_nothing_leaves",),
    ),
    (
        "SEC-2",
        "edge/credentials.py",
        "if name.lower() not in _HIDES_THE_ANSWER]",
        "if name]",
        (f"{_ECHOES}the_far_side_is_asked_for_a_plain_and_whole_answer",),
    ),
    (
        "NET-5",
        "edge/answers.py",
        "if line[0] not in _LEADS_ELSEWHERE and",
        "if line and",
        (f"{_ECHOES}an_alternative_place_is_not_told_and_not_dialled",),
    ),
    (
        "SEC-2",
        "edge/answers.py",
        'return known.scrubbed_bytes(raw).decode("latin-1")',
        'return raw.decode("latin-1")',
        (f"{_ECHOES}heads_are_searched",),
    ),
    (
        "SEC-2",
        "edge/decoding.py",
        "        if self._given > MOST_DECODED:\n",
        "        if False:\n",
        (f"{_ECHOES}a_gzip_bomb_ends_the_answer",),
    ),
    (
        "SEC-2",
        "edge/decoding.py",
        "    if found is None:\n",
        "    if False:\n",
        (f"{_ECHOES}an_answer_that_cannot_be_searched_is_refused",),
    ),
    (
        "SEC-2",
        "edge/decoding.py",
        "    reader.end()\n",
        "",
        (f"{_ECHOES}an_answer_that_cannot_be_searched_is_refused",),
    ),
    (
        "SEC-3",
        "edge/mediate.py",
        '"the answer is not HTTP, or its head is too long"',
        'str(__import__("sys").exc_info()[1])',
        (f"{_ECHOES}an_answer_that_is_not_http_is_not_quoted",),
    ),
    (
        "SEC-2",
        "edge/connection.py",
        "        if placements is not None:\n            gate.placeholders",
        "        if False:\n            gate.placeholders",
        (f"{_OWN}libraries_sign_in_as_their_documentation_says",),
    ),
    (
        "VIEW-7",
        "execution/strongbox.py",
        "        return account.credential\n",
        "        return next(iter(self._sources))\n",
        (f"{_ACCOUNTS}each_agent_signs_in_with_the_account_of_its_binding",),
    ),
    (
        "VIEW-7",
        "execution/strongbox.py",
        "account is None or account.channel != channel or account.credential is None:",
        "account is None or account.credential is None:",
        (f"{_ACCOUNTS}no_argument_says_as_whom",),
    ),
    (
        "VIEW-7",
        "assembly/config/gauntlet.py",
        '            if account.get("credential") == name:\n',
        "            if False:\n",
        (f"{_ACCOUNTS}a_credential_that_nobody_could_have_is_found_at_load",),
    ),
    (
        "CON-11",
        "inside/entry.py",
        "return {**secrets, **dict(layout.environment), **call}",
        "return {**dict(layout.environment), **call, **secrets}",
        (f"{_FOLDERS}a_secret_does_not_take_the_place_of_a_variable_of_the_jail",),
    ),
    (
        "SEC-3",
        "sanitise/prescan.py",
        "        yield from (hit.start() * self._stride for hit in self._sampled.finditer(seen))\n",
        "",
        (f"{_KNOWN}in_a_long_text_a_value_is_found_wherever_it_begins",),
    ),
    (
        "SEC-3",
        "sanitise/prescan.py",
        "            yield from (hit.start() for hit in code.finditer(raw))\n",
        "            pass\n",
        (f"{_KNOWN}in_a_long_text_a_value_is_found_wherever_it_begins",),
    ),
    (
        "SEC-3",
        "sanitise/prescan.py",
        "            yield from (hit.start() for hit in self._sparse.finditer(raw))\n",
        "            pass\n",
        (f"{_KNOWN}in_a_long_text_a_value_is_found_wherever_it_begins",),
    ),
)
