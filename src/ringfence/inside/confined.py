"""A jail without namespaces: Landlock for files, seccomp for everything else, and a warden that ends all it bore.

Takes: an order with the posture `confined`.  Gives: the steps by which warden, zygote and spare confine themselves.
Never: mounts, or goes on when a step fails.

Without a pid namespace nothing ends by itself: every process here dies with the warden, the warden adopts whatever is
orphaned, and before it ends it stops and kills its children until there are none.
"""

from __future__ import annotations

import functools
import os
import resource
import select
import signal
import struct
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

from ringfence.inside.filters import Filters, filters
from ringfence.inside.layout import Granted, Layout, Order, Rule, identity_of
from ringfence.kernel import allowlist_confined, landlock, limits, namespaces, notify, seccomp
from ringfence.kernel.allowlist import Row
from ringfence.kernel.allowlist_files import MAKING
from ringfence.kernel.allowlist_network import ASKED_FIRST, MAKING_ASKED

SPARE_FLAGS = allowlist_confined.SPARE_FLAGS
ALLOWANCE = struct.Struct("!I")
WARDEN_SIGNALS = frozenset({signal.SIGTERM, signal.SIGCHLD})
RIGHTS: Mapping[str, int] = {"read": landlock.READ, "write": landlock.WRITE}
_A_WAY = "give every user a way to it, or run Ringfence as an ordinary user"
_ITS_OWN_FOLDER = "name a `workspace` that its owner has a way to, or run Ringfence as that user"


# What a granted need adds to the tables of a jail without namespaces, by stage; a need that is not here adds nothing.
ADDED: Mapping[str, tuple[Row, ...]] = {"network": ASKED_FIRST, "files": MAKING}
ADDED_TO_MAKING: Mapping[str, tuple[Row, ...]] = {"network": MAKING_ASKED}


def confined_filters(version: int, *, clients: tuple[str, ...] = ()) -> Filters:
    """The filters of a confined jail at this Landlock version with these needs granted."""
    return _compiled(version, tuple(client for client in clients if client in ADDED))


@functools.cache
def _compiled(version: int, clients: tuple[str, ...]) -> Filters:
    extra = tuple(row for client in clients for row in ADDED[client])
    making = (*extra, *(row for client in clients for row in ADDED_TO_MAKING.get(client, ())))
    return Filters(
        stage_a=seccomp.encode(seccomp.compile_table(allowlist_confined.stage_a(version, making))),
        stage_b=seccomp.encode(seccomp.compile_table(allowlist_confined.stage_b(version, extra))),
    )


def _filters(layout: Layout) -> Filters:
    return confined_filters(layout.landlock_version, clients=layout.clients)


def filters_of(layout: Layout) -> Filters:
    """The filters that hold in a jail of this layout, whatever its posture."""
    return _filters(layout) if layout.posture == "confined" else filters(layout.binds, layout.clients)


def build(order: Order, *, life: int) -> None:
    """What makes a process a warden: ids that own nothing, orphans of its own, an end with the fork server's."""
    namespaces.become(order.uid, gid=order.gid)
    namespaces.set_dumpable("hidden")
    namespaces.adopt_orphans()
    signal.pthread_sigmask(signal.SIG_BLOCK, WARDEN_SIGNALS)
    namespaces.hear_of_parents_end(signal.SIGTERM)
    # A parent that died before the line above sends no signal; its end of this pipe is closed then.
    if select.select([life], [], [], 0)[0]:
        raise OSError("the fork server is gone")
    os.setsid()
    require_reach(order)


def require_reach(order: Order) -> None:
    """Refuse where the jail's own user cannot read what its tools need, or has no way to what was granted."""
    layout = order.layout
    for path in (order.source, *(rule.path for rule in layout.rules)):
        if not os.access(path, os.R_OK):
            raise OSError(f"`{path}` is not readable by the jail's own user: {_A_WAY}")
    for path in (layout.start, *(os.path.dirname(each.source) for each in layout.granted)):
        if not os.access(path, os.X_OK):
            raise OSError(f"the owner of what was granted has no way through `{path}`: {_ITS_OWN_FOLDER}")


def widened(order: Order) -> Layout:
    """The layout with the tool's own source among its rules."""
    source = Rule(path=order.source, rights=landlock.READ)
    return replace(order.layout, rules=(*order.layout.rules, source))


def bind_zygote(layout: Layout, *, warden: int) -> None:
    """Everything that import-time code must not do, given up before it runs."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, WARDEN_SIGNALS)
    _die_with(warden)
    # Whatever import-time code writes to a granted folder is bounded like what a call writes.
    largest = layout.bounds.scratch_bytes
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
    limits.set_no_new_privileges()
    _restrict(layout)
    limits.drop_capabilities()
    seccomp.install(_filters(layout).stage_a)


def bind_spare(layout: Layout, *, warden: int, resources: limits.ResourceLimits, kept: tuple[int, ...]) -> list[int]:
    """What a call gives up beyond its zygote: a Landlock domain of its own, so that siblings are out of reach.

    Gives its way out, if it has one, that is still to be handed over.
    """
    _die_with(warden)
    namespaces.set_dumpable(shown_to_host(layout))
    limits.apply(resources)
    _restrict(layout)
    limits.drop_capabilities()
    limits.close_all_except(kept)
    os.chdir(layout.start)
    if layout.ports:
        return [notify.install(_filters(layout).stage_b)]
    seccomp.install(_filters(layout).stage_b)
    return []


def shown_to_host(layout: Layout) -> Literal["dumpable", "hidden"]:
    """The edge copies what a tool dials out of its memory, which the kernel lets an ordinary user do only here."""
    return "dumpable" if layout.ports else "hidden"


def with_allowance(layout: Layout, *, control: int) -> Layout:
    """The layout with the process limit that the host names for this one spare.

    The kernel counts processes by user, and without a user namespace others of that user are among them.
    """
    (processes,) = ALLOWANCE.unpack(os.read(control, ALLOWANCE.size))
    return replace(layout, bounds=replace(layout.bounds, processes=processes))


def wait_for_news() -> None:
    """Until a child ends; an order to end is obeyed at once, and never returns."""
    told = signal.sigwaitinfo(WARDEN_SIGNALS)
    if told.si_signo == signal.SIGTERM:
        end_descendants()
        os._exit(0)


def next_ended() -> tuple[int, int, resource.struct_rusage] | None:
    """A child that has ended and was not told of yet; None where there is none."""
    try:
        pid, status, used = os.wait4(-1, os.WNOHANG)
    except ChildProcessError:
        return None
    return (pid, status, used) if pid else None


def end_descendants() -> None:
    """Kill every descendant and reap it; none can fork while it is stopped."""
    _stop_all()
    while True:
        for pid in _children():
            os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _stop_all() -> None:
    stopped: frozenset[int] = frozenset()
    while fresh := _children() - stopped:
        for pid in fresh:
            os.kill(pid, signal.SIGSTOP)
        stopped |= fresh


def _children() -> frozenset[int]:
    """Own children, ended ones that nobody has waited for among them; so no number here can have a new owner."""
    return frozenset(map(int, Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()))


def _restrict(layout: Layout) -> None:
    with landlock.Ruleset(version=layout.landlock_version) as rules:
        for rule in layout.rules:
            rules.allow(rule.path, rights=rule.rights)
        for each in layout.granted:
            _allow_granted(rules, each)
        rules.restrict_self()


def _allow_granted(rules: landlock.Ruleset, granted: Granted) -> None:
    """A rule for the very file or folder that was granted, whatever its name leads to by now."""
    found = os.open(granted.source, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if identity_of(os.fstat(found)) != granted.identity:
            raise OSError(f"`{granted.source}` is no longer the file that was granted")
        rules.allow_opened(found, rights=RIGHTS[granted.access])
    finally:
        os.close(found)


def _die_with(warden: int) -> None:
    namespaces.die_with_parent()
    if os.getppid() != warden:
        raise OSError("the warden is gone")
