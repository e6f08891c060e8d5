"""The guards of the network edge, one line each: take it out, and a test goes red.

Takes: nothing.  Gives: `ROWS`, each (promise, file under `src/ringfence`, the exact source to find, what stands there
without the guard, the tests that miss it).  Never: removes anything itself.
"""

from __future__ import annotations

_FLOOR = "tests/unit/edge/test_floor.py::test_"
_NAMES = "tests/unit/edge/test_names.py::test_"
_RESOLVE = "tests/unit/edge/test_resolve.py::test_"
_HELLO = "tests/unit/edge/test_hello.py::test_"
_AUTHORITY = "tests/unit/edge/test_authority.py::test_"
_TLS = "tests/integration/edge/test_tls.py::test_"
_REQUESTS = "tests/integration/edge/test_requests.py::test_"
_MEDIATED = "tests/integration/edge/test_mediated.py::test_"
_REACH = "tests/integration/edge/test_reach.py::test_"
_WAYS = "tests/integration/edge/test_ways.py::test_"
_JAILS = "tests/integration/edge/test_jails.py::test_"

ROWS: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    (
        "NET-4",
        "edge/floor.py",
        '    if found.opens == "never":\n        return found.reason\n',
        "",
        (f"{_FLOOR}what_never_opens_stays_closed_even_where_its_address_and_port_are_listed",),
    ),
    (
        "NET-4",
        "edge/floor.py",
        "    return address.ipv4_mapped or address\n",
        "    return address\n",
        (f"{_FLOOR}a_private_address_opens_at_the_very_port_that_is_listed_with_it",),
    ),
    (
        "NET-4",
        "edge/floor.py",
        "pattern.host == str(address) and port in pattern.ports",
        "pattern.host == str(address)",
        (f"{_FLOOR}a_private_address_opens_at_the_very_port_that_is_listed_with_it",),
    ),
    (
        "NET-4",
        "edge/resolve.py",
        "        task = self._known.get(name)\n",
        "        task = None\n",
        (f"{_RESOLVE}a_name_that_changes_its_address_is_asked_once_and_dialled_where_it_was_checked",),
    ),
    (
        "NET-4",
        "edge/resolve.py",
        "        for address in found:\n            reason",
        "        for address in found[:1]:\n            reason",
        (f"{_RESOLVE}one_closed_address_closes_the_name",),
    ),
    (
        "NET-4",
        "contract/capabilities.py",
        "if address in binding.private)",
        ")",
        (f"{_RESOLVE}a_binding_keeps_a_private_address_only_if_it_lists_it_too",),
    ),
    (
        "NET-4",
        "contract/capabilities.py",
        "            private=other.private,\n",
        "            private=self.private + other.private,\n",
        (f"{_RESOLVE}a_tool_cannot_declare_a_private_address_for_itself",),
    ),
    (
        "NET-6",
        "edge/names.py",
        "        if self._wild >= MOST_WILDCARD_NAMES:",
        "        if False:",
        (f"{_NAMES}under_a_wildcard_twenty_new_names_resolve_and_no_more",),
    ),
    (
        "NET-6",
        "edge/names.py",
        "        if len(name) - len(base) - 1 > MOST_LABEL_BYTES:",
        "        if False:",
        (f"{_NAMES}under_a_wildcard_labels_carry_at_most_63_bytes",),
    ),
    (
        "NET-4",
        "edge/names.py",
        "        if name in METADATA_NAMES:",
        "        if False:",
        (f"{_NAMES}a_wildcard_does_not_reach_a_name_of_the_metadata_service",),
    ),
    (
        "NET-1",
        "edge/terms.py",
        "    if not _is_listed(read, port=port, network=terms.network):",
        "    if False:",
        (f"{_RESOLVE}an_address_that_nobody_listed_leads_nowhere",),
    ),
    (
        "NET-1",
        "edge/terms.py",
        "    if not allows(terms.network.hosts, host, port):",
        "    if False:",
        (f"{_RESOLVE}a_synthetic_address_leads_to_its_name_at_the_listed_port_alone",),
    ),
    (
        "NET-4",
        "edge/hello.py",
        "    if _ENCRYPTED_HELLO in extensions or _OLD_ENCRYPTED_NAME in extensions:",
        "    if False:",
        (f"{_HELLO}an_encrypted_hello_is_refused",),
    ),
    (
        "NET-4",
        "edge/opening.py",
        "    if not is_name_of(hello.name, host=destination.host):",
        "    if False:",
        (f"{_TLS}a_hello_that_names_another_host_or_none_does_not_leave",),
    ),
    (
        "NET-4",
        "edge/opening.py",
        "            if starts and is_tls(held):",
        "            if False:",
        (f"{_TLS}tls_that_begins_later_names_the_host_too",),
    ),
    (
        "NET-5",
        "edge/authority.py",
        "            .add_extension(_constraints(network), critical=True)\n",
        "",
        (f"{_AUTHORITY}the_constraints_are_critical_and_name_the_listed_hosts",),
    ),
    (
        "NET-4",
        "edge/gate.py",
        "        if head.host(self.scheme) != (destination.host, destination.port):",
        "        if False:",
        (f"{_TLS}another_host_inside_the_right_tls_is_refused_where_the_edge_reads",),
    ),
    (
        "NET-5",
        "edge/gate.py",
        "        if head.wants_upgrade:",
        "        if False:",
        (f"{_REQUESTS}a_request_that_could_be_misread_or_is_for_another_host_does_not_leave",),
    ),
    (
        "CON-5",
        "edge/gate.py",
        "    if method not in READING_METHODS:",
        "    if False:",
        (f"{_REQUESTS}read_only_lets_no_other_method_and_no_body_out",),
    ),
    (
        "CON-5",
        "edge/gate.py",
        "    if body:\n",
        "    if False:\n",
        (f"{_REQUESTS}read_only_lets_no_other_method_and_no_body_out",),
    ),
    (
        "NET-4",
        "edge/http_head.py",
        "if len(lengths) > 1 or len(codings) > 1 or (lengths and codings):",
        "if False:",
        (f"{_REQUESTS}a_request_that_could_be_misread_or_is_for_another_host_does_not_leave",),
    ),
    (
        "NET-4",
        "edge/mediate.py",
        "        leads_to = listed(request.host, port=request.port, terms=call.terms)\n",
        "        leads_to = listed(call.terms.network.hosts[0].host, port=443, terms=call.terms)\n",
        (f"{_MEDIATED}a_request_to_an_unlisted_place_is_a_refusal_that_says_so",),
    ),
    (
        "NET-1",
        "edge/passage.py",
        "        elif len(self._open) >= bounds.open_connections:",
        "        elif False:",
        (f"{_REACH}more_connections_than_the_bound_are_refused_and_the_others_stay",),
    ),
    (
        "NET-5",
        "execution/edge.py",
        '    if job.egress is Egress.WRITE and warrant.basis == "allowed":',
        "    if False:",
        (f"{_JAILS}write_egress_opens_only_with_the_calls_own_warrant",),
    ),
    (
        "NET-5",
        "execution/edge.py",
        "    if warrant is None or warrant.invocation_id != job.invocation_id:",
        "    if warrant is None:",
        (f"{_JAILS}write_egress_opens_only_with_the_calls_own_warrant",),
    ),
    (
        "NET-1",
        "sandbox/outlet.py",
        "len(cookies) != 1 or cookies <= self._had:",
        "len(cookies) != 1:",
        (f"{_WAYS}ways_of_a_fresh_network_are_admitted_once",),
    ),
    (
        "NET-1",
        "sandbox/outlet.py",
        "{_own_cookie()} if self.ports else set[int]()",
        "set[int]()",
        (f"{_WAYS}sockets_of_the_hosts_own_network_are_refused",),
    ),
    (
        "NET-1",
        "sandbox/outlet.py",
        "        if wrong or not _resolves(resolver):",
        "        if False:",
        (f"{_WAYS}other_listeners_than_were_asked_for_are_refused",),
    ),
    (
        "NET-1",
        "sandbox/outlet.py",
        "way.family not in (socket.AF_INET, socket.AF_INET6) or way.type",
        "way.type",
        (f"{_WAYS}a_listener_whose_name_reads_like_a_port_is_not_taken_for_one",),
    ),
    (
        "NET-1",
        "sandbox/outlet.py",
        '_network(resolver.fileno()) != seen.namespaces["net"]',
        "False",
        (f"{_WAYS}ways_into_another_network_than_the_processs_are_refused",),
    ),
    (
        "NET-1",
        "kernel/routes.py",
        "socket.MSG_TRUNC, None, None) != _DONE_BYTES:",
        "socket.MSG_TRUNC, None, None) < 0:",
        (f"{_WAYS}a_network_whose_routes_the_kernel_refuses_is_not_taken_for_made",),
    ),
)
