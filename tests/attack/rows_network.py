"""What stops the ways out: a tool without a `Network` need makes no socket at all (lines 31 to 57)."""

from __future__ import annotations

from collections.abc import Mapping

from tests.attack.row import Privilege, Row, everywhere, root_or_user

_NO_SOCKET = everywhere("stopped by seccomp: EPERM")
_PROBE = everywhere("probe")


def _row(
    line: int,
    words: str,
    *,
    expected: Mapping[Privilege, str] = _NO_SOCKET,
    control: Mapping[Privilege, str] = _PROBE,
) -> Row:
    return Row(line=line, module="network", probe=f"line_{line:03}_{words}", expected=expected, control=control)


ROWS: tuple[Row, ...] = (
    _row(31, "dial_the_host"),
    _row(34, "spell_the_host"),
    _row(46, "send_without_connecting"),
    _row(47, "ask_a_resolver"),
    _row(48, "raw_and_packet_sockets", control=root_or_user("probe", "probe in namespaces")),
    _row(49, "netlink"),
    _row(50, "vsock"),
    _row(51, "every_family"),
    _row(52, "abstract_socket"),
    _row(53, "pathname_socket"),
    _row(54, "ask_for_a_descriptor"),
    _row(55, "listen"),
    _row(56, "enter_the_hosts_network",
         expected=everywhere("stopped by pid namespace: ENOENT"), control=root_or_user("probe", "probe by root")),
    _row(56, "make_a_network", control=root_or_user("probe", "probe in namespaces")),
    _row(57, "go_by_a_proxy"),
)  # fmt: skip
