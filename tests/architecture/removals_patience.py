"""The guards against whoever would keep the host waiting, or make it hold ever more: take one out, and a test goes red.

Takes: nothing.  Gives: `ROWS`, in the form of the other tables.  Never: removes anything itself.
"""

from __future__ import annotations

_BIRTHS = "tests/attack/test_births.py::test_line_"
_LOST = "tests/integration/sandbox/test_lost_jails.py::test_"
_LISTENERS = "tests/unit/edge/test_listeners.py::test_"

ROWS: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    (
        "SBX-2",
        "sandbox/spares.py",
        "        if inner_pid in self._living:\n",
        "        if False:\n",
        (f"{_BIRTHS}162_a_process_that_answers_for_its_sibling_serves_one_call",),
    ),
    (
        "SBX-9",
        "sandbox/spares.py",
        "self._loop.call_later(_SECONDS_TO_GET_READY, self.close, _none_in_time())",
        "self._loop.call_later(3600, self.close, _none_in_time())",
        (f"{_BIRTHS}72_a_call_for_which_no_process_gets_ready_ends_and_holds_up_nobody[never_ready]",),
    ),
    (
        "SBX-9",
        "sandbox/pool.py",
        '        if not isinstance(lost.failure, CallFailed) or lost.failure.code == "wall_limit":\n',
        "        if True:\n",
        (f"{_LOST}a_call_that_finds_its_jail_dead_is_served_by_another[zygote]",),
    ),
    (
        "SBX-6",
        "sandbox/pool.py",
        '        if not isinstance(lost.failure, CallFailed) or lost.failure.code == "wall_limit":\n',
        "        if False:\n",
        (f"{_LOST}a_jail_that_is_refused_is_not_built_again_for_the_same_call",),
    ),
    (
        "SBX-9",
        "sandbox/forkserver.py",
        "self._gone or self._held.has_ended()",
        "self._gone",
        (f"{_LOST}a_call_that_finds_its_jail_dead_is_served_by_another[fork server]",),
    ),
    (
        "SBX-6",
        "sandbox/spares.py",
        "        except Exception as failure:  # whatever nobody foresaw",
        "        except ZeroDivisionError as failure:  # whatever nobody foresaw",
        (f"{_LOST}an_answer_that_nobody_foresaw_is_a_refusal_and_leaves_nothing",),
    ),
    (
        "SBX-9",
        "sandbox/spares.py",
        " or self._failures_ever >= _MOST_FAILURES_EVER:\n",
        ":\n",
        (f"{_BIRTHS}162_a_jail_of_which_many_processes_fail_is_replaced",),
    ),
    (
        "SBX-10",
        "sandbox/pool.py",
        "            if time.monotonic() - since > _SECONDS_FOR_ANOTHER:\n",
        "            if False:\n",
        (f"{_LOST}a_jail_is_not_built_twice_for_a_call_that_has_waited_for_long",),
    ),
    (
        "SBX-10",
        "sandbox/pool.py",
        "        since = time.monotonic()\n        jail = await self._fitting_jail(request)\n",
        "        jail = await self._fitting_jail(request)\n        since = time.monotonic()\n",
        (f"{_LOST}how_long_a_jail_took_to_be_built_counts_too",),
    ),
    (
        "SBX-10",
        "sandbox/forkserver.py",
        "            except BlockingIOError:\n                await",
        "            except ZeroDivisionError:\n                await",
        (f"{_LOST}an_order_for_which_there_is_no_room_is_sent_later",),
    ),
    (
        "STO-1",
        "sandbox/exchange.py",
        "        if self._left:\n            raise wire.Malformed(",
        "        if False:\n            raise wire.Malformed(",
        ("tests/attack/test_storage.py::test_a_question_before_the_last_answer_was_read_ends_the_call",),
    ),
    (
        "NET-1",
        "kernel/allowlist_network.py",
        "_SOCKET: (2, 6, 7, 8, 9, 10, 12, 15, 21, 67),",
        "_SOCKET: (2, 6, 7, 8, 9, 10, 12, 13, 15, 20, 21, 66, 67),",
        ("tests/integration/edge/test_jails.py::test_the_kernel_gives_no_other_socket_and_none_that_listens",),
    ),
    (
        "NET-1",
        "edge/arrivals.py",
        "            _wait_no_longer(listener)\n",
        "",
        (f"{_LISTENERS}a_listener_that_was_made_to_wait_holds_the_host_for_a_moment_at_most",),
    ),
    (
        "NET-1",
        "edge/arrivals.py",
        "            self._hearing.remove_reader(descriptor)\n            return\n",
        "            return\n",
        (f"{_LISTENERS}a_listener_that_its_maker_shut_down_is_heard_no_more",),
    ),
    (
        "NET-1",
        "edge/arrivals.py",
        "        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _FOR_EVER)\n",
        "",
        (f"{_LISTENERS}a_connection_waits_as_long_as_any_other",),
    ),
    (
        "NET-6",
        "edge/stub.py",
        "        if self._in_vain >= _MOST_IN_VAIN:\n",
        "        if False:\n",
        (f"{_LISTENERS}a_resolver_that_its_maker_shut_down_is_heard_no_more",),
    ),
    (
        "NET-1",
        "edge/ledger.py",
        "            if self._held > self.bounds.bytes_held:\n",
        "            if False:\n",
        (f"{_LISTENERS}a_call_has_the_edge_hold_so_many_bytes_at_once_and_no_more",),
    ),
    (
        "NET-1",
        "edge/mediate.py",
        "        hold(len(piece))\n",
        "",
        (f"{_LISTENERS}the_body_of_a_request_counts_among_what_is_held",),
    ),
    (
        "SAN-4",
        "runtime/pipeline.py",
        "<= _CLEANED_AT_ONCE:",
        "<= 1 << 40:",
        (
            "tests/acceptance/spine/test_output.py::"
            "test_a_long_output_is_cleaned_beside_the_loop_and_all_the_same[20000-0-True]",
        ),
    ),
    (
        "SBX-8",
        "sandbox/listing.py",
        "        for entry in entries:\n",
        "        for entry in list(entries):\n",
        ("tests/unit/sandbox/test_listing.py::test_no_more_entries_are_read_than_are_looked_at",),
    ),
)
