"""Ways out that a spare hands over are believed only where they lead into a fresh network of its own."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from ringfence.errors import CallRefused
from ringfence.inside.ways import known_families, open_ways, say_ready
from ringfence.kernel import routes
from ringfence.kernel.namespaces import NEW_NETWORK
from ringfence.kernel.script import written_down
from ringfence.kernel.status import read_status
from ringfence.kernel.syscalls import call
from ringfence.sandbox.outlet import Networks
from ringfence.sandbox.posture import Sighting
from ringfence.sandbox.spare import ready_with
from tests.descriptors import is_open

pytestmark = pytest.mark.req("NET-1")

PORTS = (80, 443)


def in_a_network_of_its_own(work: Callable[[], Sequence[int]]) -> tuple[list[int], Sighting]:
    """Descriptors made by a thread that alone is in a fresh network, and what the host sees of that."""

    def made() -> tuple[list[int], str]:
        call("unshare", NEW_NETWORK)
        return list(work()), os.readlink("/proc/thread-self/ns/net")

    with ThreadPoolExecutor(max_workers=1) as threads:
        descriptors, network = threads.submit(made).result()
    seen = Sighting(pid=1, status=read_status(os.getpid()), namespaces={"net": network}, uid_map="")
    return descriptors, seen


def assert_refused(networks: Networks, descriptors: Sequence[int], seen: Sighting) -> None:
    with pytest.raises(CallRefused) as refused:
        networks.admit(descriptors, seen=seen)
    assert refused.value.code == "posture_insufficient"
    assert [descriptor for descriptor in descriptors if is_open(descriptor)] == []


def test_a_network_whose_routes_the_kernel_refuses_is_not_taken_for_made() -> None:
    """Asked for twice, the second time by hand and then as a spare does it."""

    def refused() -> Sequence[int]:
        with written_down(open_below=3) as script:
            routes.make_every_address_local(known_families())
        routes.make_every_address_local(known_families())
        with pytest.raises(FileExistsError, match="rtnetlink 24"):
            routes.make_every_address_local(known_families())
        kernel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)
        [asked, answered] = [step for step in script.steps if step.name in ("sendto", "recvfrom")]
        script.steps[:] = [step._replace(words=(step.words[0], kernel.fileno(), *step.words[2:]))
                           for step in (asked, answered)]  # fmt: skip
        with kernel, pytest.raises(OSError, match="recvfrom") as failed:
            script.play()
        assert failed.value.errno == errno.EPROTO
        return ()

    assert in_a_network_of_its_own(refused)[0] == []


@pytest.mark.parametrize("families", [(socket.AF_INET,), (socket.AF_INET, socket.AF_INET6)])
def test_every_address_of_the_known_families_leads_to_the_listener(families: tuple[int, ...]) -> None:
    addresses: dict[int, str] = {socket.AF_INET: "192.0.2.7", socket.AF_INET6: "2001:db8::7"}

    def dialled() -> Sequence[int]:
        listener, resolver = open_ways((80,), families=families)
        with socket.socket(fileno=listener) as listening, socket.socket(fileno=resolver):
            for family in families:
                with socket.create_connection((addresses[family], 80)), listening.accept()[0] as made:
                    assert made.getsockname()[0].removeprefix("::ffff:") == addresses[family]
        return ()

    assert in_a_network_of_its_own(dialled)[0] == []


def test_what_a_spare_hands_out_stays_out_of_the_programs_that_its_host_starts() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        handed = os.open(os.devnull, os.O_RDONLY)
        say_ready(theirs.fileno(), handing_out=[handed])
        assert not is_open(handed)
        pid, descriptors = ready_with(ours, most=1)
    found = [os.get_inheritable(descriptor) for descriptor in descriptors]
    for descriptor in descriptors:
        os.close(descriptor)
    assert (pid, found) == (os.getpid(), [False])


def test_ways_of_a_fresh_network_are_admitted_once() -> None:
    descriptors, seen = in_a_network_of_its_own(lambda: open_ways(PORTS))
    networks = Networks(PORTS)
    again = [os.dup(descriptor) for descriptor in descriptors]
    networks.admit(descriptors, seen=seen).close()
    assert_refused(networks, again, seen)


def test_sockets_of_the_hosts_own_network_are_refused() -> None:
    """The host is a thread here, in whose network everything else about them is right."""
    unseen = Sighting(pid=1, status=read_status(os.getpid()), namespaces={}, uid_map="")

    def as_host() -> Sequence[int]:
        assert_refused(Networks(PORTS), open_ways(PORTS), unseen)
        return ()

    assert in_a_network_of_its_own(as_host)[0] == []


def test_ways_into_another_network_than_the_processs_are_refused() -> None:
    descriptors, _ = in_a_network_of_its_own(lambda: open_ways(PORTS))
    _, another = in_a_network_of_its_own(list)
    assert_refused(Networks(PORTS), descriptors, another)


@pytest.mark.parametrize("ports", [(80,), (80, 443, 8080), (80, 8443), ()])
def test_other_listeners_than_were_asked_for_are_refused(ports: tuple[int, ...]) -> None:
    descriptors, seen = in_a_network_of_its_own(lambda: open_ways(ports))
    assert_refused(Networks(PORTS), descriptors, seen)


def test_a_jail_without_a_way_out_takes_no_descriptor_at_all() -> None:
    descriptors, seen = in_a_network_of_its_own(lambda: open_ways(PORTS))
    assert_refused(Networks(()), descriptors, seen)
    assert Networks(()).admit([], seen=seen).take() is None


def test_sockets_of_another_family_are_not_taken_for_ways() -> None:
    def no_ways() -> Sequence[int]:
        left, right = socket.socketpair()
        return [left.detach(), right.detach(), socket.socket(socket.AF_UNIX).detach()]

    descriptors, seen = in_a_network_of_its_own(no_ways)
    assert_refused(Networks(PORTS), descriptors, seen)


def test_a_listener_whose_name_reads_like_a_port_is_not_taken_for_one() -> None:
    def named_like_a_port() -> Sequence[int]:
        listener, resolver = open_ways((ord("P"),))
        os.close(listener)
        local = socket.socket(socket.AF_UNIX)
        local.bind("\0P")  # its name is bytes, and the second of them is that number
        local.listen()
        return [local.detach(), resolver]

    descriptors, seen = in_a_network_of_its_own(named_like_a_port)
    assert_refused(Networks((ord("P"),)), descriptors, seen)
