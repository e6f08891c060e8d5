"""The door of this room: it opens in a test run and nowhere else.

Takes: nothing.  Gives: nothing, or a refusal.  Never: can be talked open by configuration.
"""

from __future__ import annotations

import sys

from ringfence.errors import Misuse


def require_test_run(what: str) -> None:
    """Refuse unless a test runner is what runs this process."""
    if "pytest" not in sys.modules and "unittest" not in sys.modules:
        raise Misuse(
            f"`{what}` runs without a jail and is refused outside tests", remedy="set `sandbox: {kind: local}`"
        )
