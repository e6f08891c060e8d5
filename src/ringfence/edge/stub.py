"""The resolver that a jail's programs see: it knows the call's names and asks nobody.

Takes: the datagram socket that was handed out of the jail.  Gives: synthetic addresses for listed names.
Never: sends a byte anywhere but back, or answers more than a call may ask.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import Any

from ringfence.edge import dns
from ringfence.edge.ledger import Ledger
from ringfence.edge.names import Names

_LONGEST_QUESTION = 1_232
_AT_ONCE = 16


class StubResolver:
    """Answers one call's questions for as long as the call lasts."""

    def __init__(self, plain: socket.socket, *, names: Names, ledger: Ledger) -> None:
        self._socket = plain
        self._names = names
        self._ledger = ledger
        self._left = ledger.bounds.questions
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(plain, self._readable)

    def close(self) -> None:
        self._loop.remove_reader(self._socket)
        self._socket.close()

    def _readable(self) -> None:
        # Not by the socket's own mode: whoever made it could keep a copy and change that, and this loop would wait.
        for _ in range(_AT_ONCE):
            try:
                datagram, sender = self._socket.recvfrom(_LONGEST_QUESTION, socket.MSG_DONTWAIT)
            except OSError:
                return
            self._left -= 1
            if self._left < 0:
                self._ledger.refused("host_not_allowed", "more names asked than one call may ask")
                self._loop.remove_reader(self._socket)
                return
            self._answer(datagram, sender)

    def _answer(self, datagram: bytes, sender: Any) -> None:
        question = dns.read_question(datagram)
        if question is None:
            self._ledger.refused("host_not_allowed", "a question that is not one plain name")
            return
        asked = self._names.ask(question.name)
        if asked.address is None:
            self._ledger.refused("host_not_allowed", f"`{asked.name}` does not resolve: {asked.reason}")
        self._ledger.asked(asked.name, answer=asked.address or "does not exist")
        code = dns.NXDOMAIN if asked.address is None else dns.NOERROR
        with suppress(OSError):
            answer = dns.write_answer(question, address=asked.address, code=code)
            self._socket.sendto(answer, socket.MSG_DONTWAIT, sender)
