"""A cloned child really lives in its own namespaces, and Python and libc in it are whole."""

from __future__ import annotations

import os
import random
import signal
import socket
import threading
from pathlib import Path
from typing import Literal

import pytest

from ringfence.kernel.namespaces import (
    NEW_HOSTNAME,
    NEW_IPC,
    NEW_MOUNTS,
    NEW_NETWORK,
    NEW_PIDS,
    NEW_USER,
    SAME_PARENT,
    bring_loopback_up,
    clone,
    set_dumpable,
    set_hostname,
)
from ringfence.kernel.status import read_namespaces
from tests.integration.kernel.children import INNER_UID, UNUSED_UID, errno_of, in_child

pytestmark = pytest.mark.req("SBX-3")

EVERYTHING = NEW_USER | NEW_MOUNTS | NEW_PIDS | NEW_NETWORK | NEW_IPC | NEW_HOSTNAME


def signal_main_from_a_thread() -> str:
    """From another thread, libc looks up the id that it keeps of the main thread: a stale one is ESRCH."""
    main, gave = threading.main_thread().ident or 0, list[str]()
    thread = threading.Thread(target=lambda: gave.append(errno_of(lambda: signal.pthread_kill(main, 0))))
    thread.start()
    thread.join()
    return gave[0]


def test_a_child_gets_new_namespaces_of_every_kind_asked_for() -> None:
    ours = read_namespaces(os.getpid())
    # /proc/self of the old mount still shows this process: the proc mount belongs to the parent's pid namespace.
    theirs = in_child(lambda: {kind: os.readlink(f"/proc/self/ns/{kind}") for kind in ours}, flags=EVERYTHING)
    assert {kind for kind in ours if ours[kind] == theirs[kind]} == set()


def test_a_child_without_flags_shares_every_namespace() -> None:
    ours = dict(read_namespaces(os.getpid()))
    assert in_child(lambda: dict(read_namespaces(os.getpid()))) == ours


def test_the_first_process_of_a_pid_namespace_is_1() -> None:
    assert in_child(os.getpid, flags=NEW_USER | NEW_PIDS) == 1


def test_ids_are_mapped_to_an_unused_one_outside() -> None:
    inside, outside = in_child(lambda: [os.getuid(), Path("/proc/self/uid_map").read_text().split()], flags=NEW_USER)
    assert (inside, outside) == (INNER_UID, [str(INNER_UID), str(UNUSED_UID), "1"])


def test_a_mapped_child_cannot_open_what_root_owns() -> None:
    assert in_child(lambda: errno_of(lambda: os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY))) == "done"
    assert (
        in_child(lambda: errno_of(lambda: os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY)), flags=NEW_USER)
        == "EACCES"
    )


def test_a_child_can_be_given_to_its_grandparent() -> None:
    def parents() -> list[int]:
        answer, told = os.pipe()
        if clone(SAME_PARENT) == 0:
            os.write(told, str(os.getppid()).encode())
            os._exit(0)
        return [int(os.read(answer, 20)), os.getppid()]

    sibling_parent, own_parent = in_child(parents)
    assert sibling_parent == own_parent == os.getpid()
    assert os.waitpid(-1, 0)[1] == 0


def test_a_refused_clone_raises_and_leaves_python_able_to_fork() -> None:
    def refused_then_fork() -> list[object]:
        impossible = NEW_USER | 0x200  # CLONE_FS cannot be shared with a new user namespace
        first = errno_of(lambda: clone(impossible))
        pid = os.fork()
        if pid == 0:
            os._exit(7)
        return [first, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])]

    assert in_child(refused_then_fork) == ["EINVAL", 7]


def test_libc_knows_the_thread_id_that_the_kernel_gave() -> None:
    assert in_child(signal_main_from_a_thread, flags=NEW_USER | NEW_PIDS) == "done"


def test_libc_knows_the_thread_id_in_a_child_of_a_child() -> None:
    assert in_child(lambda: in_child(signal_main_from_a_thread, flags=NEW_PIDS), flags=NEW_USER | NEW_PIDS) == "done"


def test_pythons_fork_hooks_run_so_that_random_numbers_differ() -> None:
    assert in_child(random.random) != in_child(random.random)


def test_a_hostname_stays_inside() -> None:
    ours = socket.gethostname()

    def rename() -> str:
        set_hostname("jail")
        return socket.gethostname()

    assert in_child(rename, flags=NEW_USER | NEW_HOSTNAME) == "jail"
    assert socket.gethostname() == ours


def loopback_answers() -> str:
    with socket.socket() as server, socket.socket() as client:
        server.bind(("127.0.0.1", 0))
        server.listen()
        return errno_of(lambda: client.connect(server.getsockname()))


def test_loopback_is_down_until_it_is_brought_up() -> None:
    def with_loopback() -> str:
        bring_loopback_up()
        return loopback_answers()

    assert in_child(loopback_answers, flags=NEW_USER | NEW_NETWORK) == "ENETUNREACH"
    assert in_child(with_loopback, flags=NEW_USER | NEW_NETWORK) == "done"


def test_a_hidden_process_keeps_its_proc_folder_from_its_own_uid() -> None:
    def look(state: Literal["dumpable", "hidden"]) -> str:
        set_dumpable(state)
        return "root" if os.stat(f"/proc/{os.getpid()}/mem").st_uid != os.geteuid() else "own"

    assert in_child(lambda: look("dumpable"), flags=NEW_USER) == "own"
    assert in_child(lambda: look("hidden"), flags=NEW_USER) == "root"
