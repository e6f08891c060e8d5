"""The runtime: one pipeline from a request to an outcome, and the sessions that use it."""

from __future__ import annotations

from ringfence.runtime.blocking import blocking
from ringfence.runtime.outcome import Completed, Failed, Outcome, Refused, Waiting
from ringfence.runtime.runtime import Runtime
from ringfence.runtime.session import Session

__all__ = ["Completed", "Failed", "Outcome", "Refused", "Runtime", "Session", "Waiting", "blocking"]
