"""REGISTER: contracts are admitted, named, fingerprinted and pinned."""

from __future__ import annotations

from ringfence.registry.names import collides
from ringfence.registry.registry import RegisteredTool, Registry, register

__all__ = ["RegisteredTool", "Registry", "collides", "register"]
