"""Bytes and open descriptors that leave in one message, laid out as `sendmsg` wants them.

Takes: what is said and what is handed over.  Gives: an argument of a call.  Never: sends.
"""

from __future__ import annotations

import array
import ctypes
import socket
import struct
from collections.abc import Sequence

_HEADER = struct.Struct("=QI4xQQQQi4x")  # struct msghdr: nobody in particular, one piece, one block beside it
_PIECE = struct.Struct("=QQ")
_BESIDE = struct.Struct("=Qii")


class Message:
    """The memory of one message; it is read when it is sent, and has to live until then."""

    def __init__(self, content: bytes, *, descriptors: Sequence[int]) -> None:
        self.length = len(content)
        handed = array.array("i", descriptors).tobytes()
        beside = _BESIDE.pack(_BESIDE.size + len(handed), socket.SOL_SOCKET, socket.SCM_RIGHTS) + handed
        self._content = ctypes.create_string_buffer(content)
        self._piece = ctypes.create_string_buffer(_PIECE.pack(ctypes.addressof(self._content), len(content)))
        self._beside = ctypes.create_string_buffer(beside)
        self._header = ctypes.create_string_buffer(
            _HEADER.pack(0, 0, ctypes.addressof(self._piece), 1, ctypes.addressof(self._beside), len(beside), 0)
        )
        self.address = ctypes.addressof(self._header)

    @property
    def _as_parameter_(self) -> int:
        """What ctypes passes on for this."""
        return self.address
