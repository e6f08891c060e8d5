"""The two postures, as the host holds a jail to each: what it checks, whom it counts, and how it ends one.

Takes: an order and what was seen.  Gives: a refusal where the jail is less than its posture says.  Never: holds a jail
to the other posture.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ringfence.inside.confined import ALLOWANCE, shown_to_host
from ringfence.inside.layout import Order
from ringfence.sandbox import posture, posture_confined
from ringfence.sandbox.confining import PostureName
from ringfence.sandbox.groups import Entering
from ringfence.sandbox.posture import Baseline, Sighting
from ringfence.sandbox.processes import Held
from ringfence.sandbox.tasks import Tasks


class Walls(Protocol):
    """What a posture means to the host."""

    @property
    def level(self) -> PostureName: ...

    @property
    def entering(self) -> Entering:
        """Who moves a spare into its control group."""
        ...

    def check_zygote(self, seen: Sighting, *, baseline: Baseline, warden: int) -> None: ...

    def check_spare(self, seen: Sighting, *, baseline: Baseline, warden: int, zygote: Sighting) -> None: ...

    def judge(self, measured: Mapping[str, Any]) -> None:
        """Refuse where something that was tried from inside was not refused."""
        ...

    def allowance(self) -> bytes:
        """What a request for a spare says beyond asking for one."""
        ...

    def end(self, warden: Held) -> None:
        """Have the warden end, and everything with it."""
        ...


@dataclass(frozen=True)
class FullWalls:
    """Namespaces too: the kernel ends a jail with its warden, and counts its processes alone."""

    order: Order
    level: PostureName = "full"
    # Cheaper; and the kernel takes a pid as its writer sees it, so that a jail can name none but its own.
    entering: Entering = "by itself"

    def check_zygote(self, seen: Sighting, *, baseline: Baseline, warden: int) -> None:
        posture.check_zygote(seen, baseline=baseline, warden=warden, uid=self.order.uid)

    def check_spare(self, seen: Sighting, *, baseline: Baseline, warden: int, zygote: Sighting) -> None:
        uid, ports = self.order.uid, self.order.layout.ports
        own = posture.OF_A_CALL_WITH_NETWORK if ports else posture.OF_A_CALL
        posture.check_spare(seen, baseline=baseline, warden=warden, uid=uid, zygote=zygote, own=own)

    def judge(self, measured: Mapping[str, Any]) -> None:
        layout = self.order.layout
        posture.judge_inside(
            measured, environment=dict(layout.environment), granted=layout.writable(), clients=layout.clients
        )

    def allowance(self) -> bytes:
        return b""

    def end(self, warden: Held) -> None:
        warden.kill()


@dataclass(frozen=True)
class ConfinedWalls:
    """Landlock and seccomp alone: the warden ends what it bore, and others of the user are counted along."""

    order: Order
    tasks: Tasks
    level: PostureName = "confined"
    # A zygote that was given the door could move any process of this machine into a group that is ended with its jail.
    entering: Entering = "by the host"

    def check_zygote(self, seen: Sighting, *, baseline: Baseline, warden: int) -> None:
        posture_confined.check_zygote(seen, baseline=baseline, warden=warden, uid=self.order.uid)

    def check_spare(self, seen: Sighting, *, baseline: Baseline, warden: int, zygote: Sighting) -> None:
        posture_confined.check_spare(
            seen,
            baseline=baseline,
            warden=warden,
            uid=self.order.uid,
            zygote=zygote,
            shown=shown_to_host(self.order.layout),
        )

    def judge(self, measured: Mapping[str, Any]) -> None:
        order = self.order
        posture_confined.judge_inside(measured, layout=order.layout, uid=order.uid, gid=order.gid)

    def allowance(self) -> bytes:
        return ALLOWANCE.pack(self.tasks.count() + self.order.layout.bounds.processes)

    def end(self, warden: Held) -> None:
        # Not SIGKILL: no pid namespace ends with this process, so it ends what it bore before itself.
        warden.ask_to_end()


def walls_of(order: Order) -> Walls:
    return ConfinedWalls(order, Tasks(order.uid)) if order.layout.posture == "confined" else FullWalls(order)
