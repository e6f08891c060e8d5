"""The resolver that a jail's programs see: it knows the call's names and asks nobody.

Takes: questions, over a datagram socket that was handed out of the jail or over a connection.
Gives: synthetic addresses for listed names.
Never: sends a byte anywhere but back, or answers more than a call may ask.
"""

from __future__ import annotations

import socket
import struct
from contextlib import suppress
from typing import Any

from ringfence.edge import dns
from ringfence.edge.ends import End
from ringfence.edge.ledger import Ledger
from ringfence.edge.names import Names
from ringfence.execution.edge import Hearing

_LONGEST_QUESTION = 1_232
_AT_ONCE = 16
_MOST_IN_VAIN = 64
_LENGTH = struct.Struct("!H")


class Answers:
    """What one call may ask, and what it is told."""

    def __init__(self, names: Names, *, ledger: Ledger) -> None:
        self._names = names
        self._ledger = ledger
        self._left = ledger.bounds.questions

    def count(self) -> bool:
        """Whether the call may ask once more."""
        self._left -= 1
        if self._left < 0:
            self._ledger.refused("host_not_allowed", "more names asked than one call may ask")
        return self._left >= 0

    def answer(self, datagram: bytes) -> bytes | None:
        """The answer to one question; None to what is none."""
        question = dns.read_question(datagram)
        if question is None:
            self._ledger.refused("host_not_allowed", "a question that is not one plain name")
            return None
        asked = self._names.ask(question.name)
        if asked.address is None:
            self._ledger.refused("host_not_allowed", f"`{asked.name}` does not resolve: {asked.reason}")
        self._ledger.asked(asked.name, answer=asked.address or "does not exist")
        code = dns.NXDOMAIN if asked.address is None else dns.NOERROR
        return dns.write_answer(question, address=asked.address, code=code)


class StubResolver:
    """Answers one call's datagrams for as long as the call lasts."""

    def __init__(self, plain: socket.socket, *, hearing: Hearing, answers: Answers) -> None:
        self._socket = plain
        self._answers = answers
        self._hearing = hearing
        self._in_vain = 0
        hearing.add_reader(plain.fileno(), self._readable)

    def close(self) -> None:
        self._hearing.remove_reader(self._socket.fileno())
        self._socket.close()

    def _readable(self) -> None:
        # Not by the socket's own mode: whoever made it could keep a copy and change that, and this loop would wait.
        for number in range(_AT_ONCE):
            try:
                datagram, sender = self._socket.recvfrom(_LONGEST_QUESTION, socket.MSG_DONTWAIT)
            except OSError:
                self._heard_nothing(number)
                return
            if not self._answers.count():
                self._hearing.remove_reader(self._socket.fileno())
                return
            self._reply(datagram, sender)

    def _heard_nothing(self, questions: int) -> None:
        """A socket that its maker shut down is heard again and again, and no question ever comes."""
        self._in_vain = 0 if questions else self._in_vain + 1
        if self._in_vain >= _MOST_IN_VAIN:
            self._hearing.remove_reader(self._socket.fileno())

    def _reply(self, datagram: bytes, sender: Any) -> None:
        told = self._answers.answer(datagram)
        if told is not None:
            with suppress(OSError):
                self._socket.sendto(told, socket.MSG_DONTWAIT, sender)


async def answer_stream(client: End, *, answers: Answers) -> None:
    """The same over a connection, where each question and each answer says its length first."""
    held = b""
    while answers.count():
        while len(held) < _LENGTH.size or len(held) < _LENGTH.size + _LENGTH.unpack_from(held)[0]:
            piece = await client.read()
            if not piece:
                return
            held += piece
        end = _LENGTH.size + _LENGTH.unpack_from(held)[0]
        told = answers.answer(held[_LENGTH.size : end])
        if told is None:
            return
        held = held[end:]
        await client.write(_LENGTH.pack(len(told)) + told)
