"""What every test run reports at its end: how many promises are held, and how much of the source is comment."""

from __future__ import annotations

import pytest

from tests.architecture.source import comment_share
from tests.requirements import DEFERRED, LIVE


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    partly = sum(1 for row in LIVE if row.partly)
    terminalreporter.write_line(
        f"requirements: {len(LIVE)} live, {len(DEFERRED)} deferred ({partly} of the live in part)"
    )
    terminalreporter.write_line(f"comments: {comment_share():.1%} of source lines")
