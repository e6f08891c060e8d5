"""Processes held by descriptor: a number can be reused, a descriptor cannot.

Takes: pids as the kernel gave them.  Gives: kills, waits on the event loop, and what the kernel shows of them.
Never: signals by number.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
from collections.abc import Callable

from ringfence.kernel import proc


class Held:
    """One process that this host may kill and wait for."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._descriptor: int | None = os.pidfd_open(pid)
        self._shown: int | None = None
        self._watched = False

    def status(self) -> bytes:
        """Its /proc/PID/status by now, of this very process however often one looks; OSError where it is gone."""
        if self._shown is None:
            if self._descriptor is None:
                raise ProcessLookupError(f"process {self.pid} was let go")
            self._shown = proc.found(f"/proc/{self.pid}/status")
        return proc.read_again(self._shown)

    def kill(self) -> None:
        """SIGKILL; a process that is gone already is as dead as wanted."""
        self._signal(signal.SIGKILL)

    def ask_to_end(self) -> None:
        """SIGTERM, to a process of Ringfence's own that has something to do before it ends."""
        self._signal(signal.SIGTERM)

    def _signal(self, number: signal.Signals) -> None:
        if self._descriptor is None:
            return
        try:
            signal.pidfd_send_signal(self._descriptor, number)
        except ProcessLookupError:
            # Whoever waits to be told that it ended is told by this very descriptor.
            if not self._watched:
                self.let_go()

    def has_ended(self) -> bool:
        """Whether it has ended by now, told to anybody or not."""
        if self._descriptor is None:
            return True
        kernel = select.poll()
        kernel.register(self._descriptor, select.POLLIN)
        return bool(kernel.poll(0))

    async def ended(self) -> None:
        """Wait until the process has ended."""
        if self._descriptor is None:
            return
        loop = asyncio.get_running_loop()
        over: asyncio.Future[None] = loop.create_future()
        loop.add_reader(self._descriptor, settle, over)
        try:
            await over
        finally:
            loop.remove_reader(self._descriptor)

    def tell_when_ended(self, told: Callable[[], object]) -> None:
        """Have the event loop say so, until the process is let go of."""
        loop = asyncio.get_running_loop()
        if self._descriptor is None:
            loop.call_soon(told)
        else:
            loop.add_reader(self._descriptor, told)
            self._watched = True

    def let_go(self) -> None:
        if self._descriptor is None:
            return
        if self._watched:
            asyncio.get_running_loop().remove_reader(self._descriptor)
        os.close(self._descriptor)
        self._descriptor = None
        if self._shown is not None:
            os.close(self._shown)
            self._shown = None


def settle(over: asyncio.Future[None]) -> None:
    """Resolve a future that the event loop may call back about more than once."""
    if not over.done():
        over.set_result(None)
