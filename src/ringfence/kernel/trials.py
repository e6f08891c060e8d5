"""Each mechanism of a jail as a trial: what is done, in which namespaces, and which postures cannot do without it.

Takes: nothing.  Gives: `TRIALS`, to be run in children that are then gone.  Never: runs one itself.

Preconditions: each runs in a child of its own; one in a user namespace has an id there.
"""

from __future__ import annotations

import errno
import os
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NoReturn

from ringfence.kernel import landlock, limits, mounts, namespaces, notify, seccomp
from ringfence.kernel.attempts import INSIDE
from ringfence.kernel.syscalls import NUMBERS, TABLE_END, call

Posture = Literal["full", "confined"]
POSTURES: tuple[Posture, ...] = ("full", "confined")

_FULL: tuple[Posture, ...] = ("full",)
_BOTH = POSTURES
_NONE: tuple[Posture, ...] = ()
_RESOLVE_BENEATH = 0x08
_OPEN_HOW_BYTES = 24
_SOMEBODY = 65534
_EXIT_CALLS = (NUMBERS["exit"], NUMBERS["exit_group"])
_PLACE = "/tmp"  # noqa: S108  every system has it; what is mounted there is gone with the trial's namespace


@dataclass(frozen=True)
class Trial:
    """One mechanism: its name, the namespaces to try it in, the try itself, who needs it, and what it is good for."""

    name: str
    flags: int
    act: Callable[[], object]
    needed_for: tuple[Posture, ...]
    good_for: str


def _nothing() -> None:
    return


def _nested() -> None:
    limits.set_no_new_privileges()
    limits.drop_capabilities()
    child = namespaces.clone(namespaces.NEW_USER | namespaces.NEW_PIDS | namespaces.NEW_MOUNTS | namespaces.NEW_IPC)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def _scratch() -> None:
    mounts.make_private()
    mounts.mount_scratch(_PLACE, size_bytes=1 << 16, inodes=16)
    os.close(os.open(f"{_PLACE}/file", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _fresh_proc() -> None:
    mounts.make_private()
    mounts.mount_proc("/proc")


def _move() -> None:
    mounts.make_private()
    tree = mounts.clone_tree("/usr")
    mounts.mount_scratch(_PLACE, size_bytes=1 << 16, inodes=16)
    os.mkdir(f"{_PLACE}/usr")
    mounts.restrict_tree(tree, attributes=mounts.READ_ONLY_TREE)
    mounts.attach(tree, target=f"{_PLACE}/usr")


def _new_root() -> None:
    _move()
    mounts.enter_root(_PLACE)


def whole_root() -> None:
    """All that a jail's root and a call in it need, in the order in which they are made."""
    _move()
    os.mkdir(f"{_PLACE}/proc")
    # Only who sees a whole /proc may mount one, so it comes before the old root goes.
    mounts.mount_proc(f"{_PLACE}/proc")
    mounts.enter_root(_PLACE)
    _nested()


def _map_owners() -> None:
    mounts.make_private()
    tree = mounts.clone_tree("/usr")
    gate, held = os.pipe()
    child = namespaces.clone(namespaces.NEW_USER)
    if child == 0:
        os.close(held)
        os.read(gate, 1)
        os._exit(0)
    try:
        ids = namespaces.IdMap(inside=INSIDE, outside=os.geteuid())
        namespaces.write_maps(child, uid=ids, gid=ids, setgroups="deny")
        mounts.map_owners(tree, user_namespace=os.open(f"/proc/{child}/ns/user", os.O_RDONLY))
    finally:
        os.close(held)
        os.waitpid(child, 0)


def _install_filter() -> None:
    limits.set_no_new_privileges()
    refuse_all_but_exit = dict.fromkeys(_EXIT_CALLS, seccomp.ALLOW)
    seccomp.install(seccomp.encode(seccomp.compile_table(refuse_all_but_exit)))


def _restrict() -> None:
    limits.set_no_new_privileges()
    with landlock.Ruleset(version=landlock.version()) as rules:
        rules.restrict_self()


def _open_beneath() -> None:
    how = (os.O_PATH | os.O_CLOEXEC).to_bytes(8, "little") + bytes(8) + _RESOLVE_BENEATH.to_bytes(8, "little")
    folder = os.open("/", os.O_PATH | os.O_CLOEXEC)
    call("openat2", folder, b".", how, _OPEN_HOW_BYTES)


def _close_all() -> None:
    limits.close_all_except((0, 1, 2))


def _hold() -> None:
    held = os.pidfd_open(os.getpid())
    signal.pidfd_send_signal(held, signal.SIGCONT)


def _stamp() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    theirs.send(b"x")
    _, ancillary, _, _ = ours.recvmsg(1, socket.CMSG_SPACE(12))
    if not ancillary:
        raise OSError("no stamp")


def _answer() -> None:
    """A child of another user asks before it connects, and is answered with its own socket in hand."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        _ask(theirs)
    theirs.close()
    _, listeners, _, _ = socket.recv_fds(ours, 1, 1)
    if not listeners:
        raise OSError("no filter that asks")
    notice = notify.receive(listeners[0])
    if notice is None:
        raise OSError("whoever asked is gone")
    os.close(notify.take_descriptor(child, notice.arguments[0]))
    notify.read_memory(notice.thread, at=notice.arguments[1], size=1)
    notify.answer(listeners[0], notice, error=errno.ECONNREFUSED)
    os.waitpid(child, 0)


def _ask(handed: socket.socket) -> NoReturn:
    try:
        if os.geteuid() == 0:
            namespaces.become(_SOMEBODY, gid=_SOMEBODY)
        namespaces.set_dumpable("dumpable")
        limits.set_no_new_privileges()
        table = {**dict.fromkeys(range(TABLE_END), seccomp.ALLOW), NUMBERS["connect"]: notify.ASK}
        listener = notify.install(seccomp.encode(seccomp.compile_table(table)))
        socket.send_fds(handed, [b"w"], [listener])
        os.close(listener)
        with socket.socket() as made:
            made.connect_ex(("127.0.0.1", 9))
    finally:
        os._exit(0)


_U, _M, _P = namespaces.NEW_USER, namespaces.NEW_MOUNTS, namespaces.NEW_PIDS

TRIALS: tuple[Trial, ...] = (
    Trial("landlock", 0, _restrict, _BOTH, "no file outside the grant can be opened"),
    Trial("seccomp", 0, _install_filter, _BOTH, "no system call outside the table can be made"),
    Trial("close_range", 0, _close_all, _BOTH, "no descriptor of the host stays open"),
    Trial("pidfd", 0, _hold, _BOTH, "the process that is killed is the one that was meant"),
    Trial("stamped messages", 0, _stamp, _BOTH, "the kernel says which process speaks"),
    Trial("subreaper", 0, namespaces.adopt_orphans, ("confined",), "whatever a tool leaves behind is found and ended"),
    Trial("asked connections", 0, _answer, _NONE, "without namespaces, a tool with a `Network` need has a way out"),
    Trial("user namespace", _U, _nothing, _FULL, "a jail can be made without root"),
    Trial("mount namespace", _U | _M, _nothing, _FULL, "the rest of the file system is not even there"),
    Trial("pid namespace", _U | _P, _nothing, _FULL, "other processes are not seen, and the whole tree ends together"),
    Trial("network namespace", _U | namespaces.NEW_NETWORK, _nothing, _FULL, "there is no network device at all"),
    Trial("ipc namespace", _U | namespaces.NEW_IPC, _nothing, _FULL, "no memory is shared with others"),
    Trial("hostname namespace", _U | namespaces.NEW_HOSTNAME, lambda: namespaces.set_hostname("jail"), _FULL,
          "the machine's name stays unknown"),
    Trial("nested namespaces", _U | _M | _P, _nested, _FULL, "each call gets namespaces of its own within the jail's"),
    Trial("mount_setattr", _U | _M, mounts.make_private, _FULL, "mounts are read-only all the way down"),
    Trial("moved mounts", _U | _M, _move, _FULL, "pieces of the host are seen in the jail, and no others"),
    Trial("fresh scratch", _U | _M, _scratch, _FULL, "each call has a bounded /tmp of its own, in memory"),
    Trial("fresh proc", _U | _M | _P, _fresh_proc, _FULL, "/proc shows the call's own process alone"),
    Trial("new root", _U | _M, _new_root, _FULL, "the old root has no name any more"),
    Trial("openat2", 0, _open_beneath, _FULL, "no path trick leaves a granted folder"),
    Trial("idmapped mounts", _M, _map_owners, _NONE, "root's jails read and write granted folders as their owner"),
)  # fmt: skip
