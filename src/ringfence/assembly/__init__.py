"""Assembly: a configuration becomes a runtime, and only here are concrete parts named."""

from __future__ import annotations

from ringfence.assembly.assemble import open_runtime
from ringfence.assembly.config import Config, load_config

__all__ = ["Config", "load_config", "open_runtime"]
