"""For tests of tools and of everything built on Ringfence; nothing here works outside a test run."""

from __future__ import annotations

from ringfence.testing.sandbox import DangerouslyScriptedSandbox, Script
from ringfence.testing.storage import memory_storage
from ringfence.testing.unit import dangerously_call

__all__ = ["DangerouslyScriptedSandbox", "Script", "dangerously_call", "memory_storage"]
