"""PostgreSQL behind the store's protocols; needs the extra `postgres`."""

from __future__ import annotations

from ringfence.store.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
