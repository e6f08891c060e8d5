"""What `store.url` can say: a file of SQLite or a database of PostgreSQL.

Takes: the text.  Gives: which it is, its file, and a spelling without the password.
Never: connects to anything.
"""

from __future__ import annotations

import re

_POSTGRES = re.compile(r"postgres(?:ql)?://")
_PASSWORD = re.compile(r"(?<=//)([^/@?#:]*):[^/@?#]*@|([?&]password=)[^&#]*")

# A database keeps no file; keys, anchor, snapshots and workspaces still need a folder.
POSTGRES_STATE = "sqlite:///state/ringfence.db"


def is_postgres(url: str) -> bool:
    return _POSTGRES.match(url) is not None


def file_url(url: str) -> str:
    """The url whose file stands in the folder of state."""
    return POSTGRES_STATE if is_postgres(url) else url


def without_password(url: str) -> str:
    """What may be hashed and shown: a digest of a password can be guessed at leisure."""
    return _PASSWORD.sub(lambda found: f"{found[1]}@" if found[1] is not None else found[2], url)
