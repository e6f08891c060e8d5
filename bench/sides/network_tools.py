"""A tool that may dial out and does not: what a network of its own costs every call.

Takes: nothing.  Gives: nothing.  Never: dials.
"""

from __future__ import annotations

from ringfence import tool
from ringfence.contract.capabilities import Network


@tool(safety="read", needs=[Network("api.example.com")])
def nothing_dialled() -> int:
    """Do nothing, with a way out."""
    return 0
