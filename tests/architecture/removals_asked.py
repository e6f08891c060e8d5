"""The guards of a way out without a network of its own, one line each: take it out, and a test goes red.

Takes: nothing.  Gives: `ROWS`, each (promise, file under `src/ringfence`, the exact source to find, what stands there
without the guard, the tests that miss it).  Never: removes anything itself.
"""

from __future__ import annotations

_CONNECTS = "tests/integration/edge/test_connects.py::test_"
_CONFINED = "tests/integration/edge/test_matrix_confined.py::test_"
_RELAY = "tests/unit/edge/test_relay.py::test_"
_QUESTIONS = "tests/integration/edge/test_questions.py::test_"
_TABLE = "tests/unit/kernel/test_allowlist_network.py::test_"

ROWS: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    (
        "NET-1",
        "edge/connects.py",
        "            if not notify.is_open(self._listener, notice):\n",
        "            if False:\n",
        (f"{_CONNECTS}what_was_copied_of_somebody_who_is_gone_counts_for_nothing",),
    ),
    (
        "NET-1",
        "edge/connects.py",
        "        if not self._belongs(process):\n",
        "        if False:\n",
        (f"{_CONNECTS}a_process_that_is_not_of_the_call_gets_no_connection",),
    ),
    (
        "NET-1",
        "edge/connects.py",
        "                self._check(dialled)\n",
        "",
        (f"{_CONNECTS}an_unlisted_place_is_refused_at_once_and_on_record",),
    ),
    (
        "NET-1",
        "edge/connects.py",
        "[0] != _UNCONNECTED:\n",
        "[0] == -1:\n",
        (f"{_CONNECTS}a_socket_that_leads_somewhere_is_neither_dissolved_nor_aimed_anew",),
    ),
    (
        "NET-1",
        "edge/connects.py",
        "    if stated != family:\n",
        "    if False:\n",
        (f"{_CONNECTS}other_addresses_are_refused_as_the_kernel_would",),
    ),
    (
        "NET-4",
        "edge/connects.py",
        "    if scope != _NO_SCOPE:\n",
        "    if False:\n",
        (f"{_CONNECTS}other_addresses_are_refused_as_the_kernel_would",),
    ),
    (
        "NET-1",
        "edge/connects.py",
        "            if peer == (_HERE, expected):\n",
        "            if peer:\n",
        (f"{_CONNECTS}only_the_tools_own_socket_is_joined",),
    ),
    (
        "NET-1",
        "edge/passage.py",
        "        self._arrivals.stop()\n        return True\n",
        "        return True\n",
        (f"{_CONNECTS}more_connections_than_one_call_may_make_end_the_asking",),
    ),
    (
        "NET-1",
        "edge/connects.py",
        "            self._turned_away()\n",
        "            pass\n",
        (f"{_CONNECTS}what_is_refused_is_counted_too",),
    ),
    (
        "NET-6",
        "edge/stub.py",
        "    while answers.count():\n",
        "    while True:\n",
        (f"{_CONNECTS}questions_are_counted_over_connections_too",),
    ),
    (
        "NET-1",
        "kernel/allowlist_network.py",
        ' the edge, which joins the socket to itself or refuses", ASK),',
        ' the edge, which joins the socket to itself or refuses"),',
        (f"{_TABLE}a_confined_jail_asks_before_every_connection",),
    ),
    (
        "NET-1",
        "kernel/allowlist_network.py",
        "                                     Masked(argument=3, mask=_MSG_FASTOPEN, value=0)),))),",
        "                                     ),))),",
        (f"{_TABLE}no_connection_of_a_confined_jail_begins_with_its_first_bytes",),
    ),
    (
        "SBX-6",
        "sandbox/questions.py",
        " or not notify.is_listener(descriptors[0]):",
        ":",
        (f"{_QUESTIONS}what_is_no_listener_of_a_filter_is_refused",),
    ),
    (
        "SBX-6",
        "sandbox/questions.py",
        "            os.close(notify.take_descriptor(process, 0))\n",
        "            pass\n",
        (f"{_QUESTIONS}a_host_that_may_not_look_at_its_jails_says_so",),
    ),
    (
        "NET-1",
        "edge/relay.py",
        "        for _ in range(_MOST_AT_ONCE):\n",
        "        while True:\n",
        (f"{_RELAY}a_flow_without_end_leaves_the_loop_to_others",),
    ),
    (
        "NET-1",
        "edge/relay.py",
        "            self._copied = memoryview(bytes(self._copied))\n",
        "",
        (f"{_RELAY}what_waits_to_be_sent_is_not_in_the_buffer_that_all_share",),
    ),
    (
        "NET-1",
        "edge/relay.py",
        "            self._tally(count)\n",
        "",
        (f"{_RELAY}a_bound_ends_a_flow_and_nothing_beyond_it_arrives",),
    ),
)
