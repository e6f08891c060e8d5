"""The host's hold on its fork server: started once, asked for jails, ended with the host.

Takes: orders.  Gives: jails being born.  Never: hands it the host's environment, memory or descriptors.
"""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from ringfence.errors import CallRefused
from ringfence.inside.forkserver import LAY_UP
from ringfence.inside.layout import Order
from ringfence.inside.ordering import MOST_ORDER_BYTES, spell
from ringfence.sandbox.installation import Installation
from ringfence.sandbox.processes import Held

_START_SECONDS = 30.0
_MOST_ANSWER = 4_096
_PAUSE = 0.005


class ForkServer:
    """A fresh interpreter with an empty environment and one socket."""

    def __init__(self, process: subprocess.Popen[bytes], *, control: socket.socket) -> None:
        self._process = process
        self._held = Held(process.pid)
        self._control = control
        self._waiting: deque[asyncio.Future[dict[str, Any]]] = deque()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(control.fileno(), self._answered)
        self._gone = False
        self._took = False
        self.lacking: str | None = None

    @classmethod
    async def start(cls, installation: Installation) -> ForkServer:
        """Start one and wait until it is warm."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            process = subprocess.Popen(  # noqa: ASYNC220  a fork server starts once, before any call
                [installation.executable, "-I", "-S", "-X", "utf8", installation.start_script, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                env={},
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        ours.setblocking(False)
        ours.send(json.dumps(installation.import_path).encode())
        server = cls(process, control=ours)
        try:
            hello = await asyncio.wait_for(server._expect(), timeout=_START_SECONDS)
        except (TimeoutError, CallRefused):
            await server.close()
            raise _unusable("the fork server did not start") from None
        server.lacking = hello["lacking"]
        return server

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def gone(self) -> bool:
        """Whether it bears no more, though the event loop may not have heard so yet."""
        return self._gone or self._held.has_ended()

    async def bear(self, order: Order, *, descriptors: Sequence[int]) -> None:
        """Have a jail born that holds these: report, channel, doors of control groups; or refuse."""
        packet = spell(order)
        if len(packet) > MOST_ORDER_BYTES:
            raise _unusable("the order for a jail is too long; this machine has too many folders to mount")
        await self._send(packet, descriptors=descriptors)
        self._took = True
        answer = await self._expect()
        if "refused" in answer:
            raise _unusable(f"no jail could be made: {answer['refused']}")

    async def _send(self, packet: bytes, *, descriptors: Sequence[int]) -> None:
        """Send an order as soon as there is room for it: some fifty fit."""
        while not self._gone:
            try:
                socket.send_fds(self._control, [packet], descriptors)
            except BlockingIOError:
                await asyncio.sleep(_PAUSE)
            except ConnectionError:
                break
            else:
                return
        raise _unusable("the fork server is gone")

    def lay_up(self) -> None:
        """Have the next jail begun in a moment, if an order took the one that waited."""
        if self._took and not self._gone and self.lacking is None:
            self._took = False
            # Whether it hears this does not matter: without one that waits, a jail is only later.
            with suppress(OSError):
                self._control.send(LAY_UP)

    async def close(self) -> None:
        """End it; every jail that it bore ends too."""
        self._lose()
        await self._held.ended()
        self._held.let_go()
        self._process.wait()

    def _expect(self) -> asyncio.Future[dict[str, Any]]:
        answer: asyncio.Future[dict[str, Any]] = self._loop.create_future()
        self._waiting.append(answer)
        return answer

    def _answered(self) -> None:
        try:
            packet = self._control.recv(_MOST_ANSWER)
        except BlockingIOError:
            return
        except OSError:
            packet = b""
        if not packet:
            self._lose()
            return
        answer = self._waiting.popleft()
        if not answer.done():
            answer.set_result(json.loads(packet))

    def _lose(self) -> None:
        if self._gone:
            return
        self._gone = True
        self._loop.remove_reader(self._control.fileno())
        self._control.close()
        for answer in self._waiting:
            if not answer.done():
                answer.set_exception(_unusable("the fork server is gone"))
        self._waiting.clear()


def _unusable(message: str) -> CallRefused:
    return CallRefused(message, code="posture_insufficient")
