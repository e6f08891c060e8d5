"""A tool that dials, for a host whose edge is a stand-in."""

from __future__ import annotations

import socket

from ringfence import Network, tool


@tool(safety="read", needs=[Network("api.example.com")])
def dial(address: str) -> str:
    """Say where the connection ended."""
    with socket.create_connection((address, 80), timeout=5) as made:
        return made.recv(200).decode()
