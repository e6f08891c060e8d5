"""Ringfence stands between AI agents and their tools: a tool is a contract, and the contract is enforced.

These are the tool author's names. The jail imports this module too, so it loads the contract and nothing else.
"""

from __future__ import annotations

from ringfence.contract.capabilities import FROM_AGENT, Files, Network, Processes, Secrets, Storage
from ringfence.contract.context import Context
from ringfence.contract.limits import Limits, Retry
from ringfence.contract.markers import Recipient, Sink
from ringfence.contract.reconcile import CannotTell, Done, NotDone
from ringfence.contract.result import Result
from ringfence.contract.secret import SecretRef
from ringfence.contract.tool import Tool, tool

__version__ = "0.1.0"

__all__ = [
    "FROM_AGENT",
    "CannotTell",
    "Context",
    "Done",
    "Files",
    "Limits",
    "Network",
    "NotDone",
    "Processes",
    "Recipient",
    "Result",
    "Retry",
    "SecretRef",
    "Secrets",
    "Sink",
    "Storage",
    "Tool",
    "tool",
]
