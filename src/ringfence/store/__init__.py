"""The store: calls, votes, pins, sessions and the trail, under rules that the database itself holds."""

from __future__ import annotations

from ringfence.store.sqlite import SqliteStore

__all__ = ["SqliteStore"]
