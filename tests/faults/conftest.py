"""The same stores as in the acceptance tests: a file of SQLite, and a real PostgreSQL."""

from __future__ import annotations

from tests.acceptance.database.conftest import settings

__all__ = ["settings"]
