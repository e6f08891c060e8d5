"""What holds for every test: it ends; and at the end of a run, how many promises are held."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from types import FrameType

import pytest

from tests.architecture.source import comment_share
from tests.cluster import cluster, database
from tests.requirements import DEFERRED, LIVE

__all__ = ["cluster", "database", "ends"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    partly = sum(1 for row in LIVE if row.partly)
    terminalreporter.write_line(
        f"requirements: {len(LIVE)} live, {len(DEFERRED)} deferred ({partly} of the live in part)"
    )
    terminalreporter.write_line(f"comments: {comment_share():.1%} of source lines")


_MOST_SECONDS = {"short": 300, "long": 3_600}


@pytest.fixture(autouse=True)
def ends(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test that hangs is a failure; it measures nothing, so the bound is far above what any test needs."""

    def give_up(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"{request.node.nodeid} did not end")

    pace = "long" if request.node.get_closest_marker("long") else "short"
    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(_MOST_SECONDS[pace])
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
