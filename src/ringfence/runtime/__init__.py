"""The runtime: one pipeline from a request to an outcome, and the sessions that use it."""

from __future__ import annotations

from ringfence.runtime.outcome import Completed, Failed, Outcome, Refused, Waiting

__all__ = ["Completed", "Failed", "Outcome", "Refused", "Waiting"]
