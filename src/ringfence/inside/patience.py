"""A moment in which a process that has something to do for itself first waits for whoever may ask.

Takes: a channel.  Gives: whether the moment passed and nobody asked.  Never: reads what came.

Where calls wait in line, a spare has its job at once, and to rehearse one would be work for nothing.
"""

from __future__ import annotations

import ctypes
import select
import struct

from ringfence.kernel.syscalls import made, words_of

_POLLED = struct.Struct("ihh")
_MILLISECONDS = 5


class Moment:
    """The question, spelled out in the process that bears the spares, to be asked once in each."""

    def __init__(self, channel: int) -> None:
        self._polled = ctypes.create_string_buffer(_POLLED.pack(channel, select.POLLIN, 0), _POLLED.size)
        self._words = words_of("poll", ctypes.addressof(self._polled), 1, _MILLISECONDS)

    def passes_in_silence(self) -> bool:
        """Wait; what cannot be waited for has not passed in silence either, and reading the job will tell why."""
        return bool(made(*self._words) == 0)
