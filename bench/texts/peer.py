"""What detect-secrets finds in the same rows, where it is installed.

Takes: the corpora.  Gives: rows for information.  Never: loads the peer into this process.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from typing import Any

from bench.harness.python import ROOT, real_binary
from bench.harness.rows import PERCENT, Row
from bench.harness.worker import find_peer
from bench.texts.corpora import rows
from bench.texts.speed import PEER

_MODULE = "bench.sides.secrets_peer"


def peer_rows() -> Iterator[Row]:
    python = find_peer(PEER)
    hard = [row for row in rows("secrets_negative") if row["severity"] == "hard"]
    yield _row("credentials found by detect-secrets", rows("secrets_positive"), python=python)
    yield _row("hard negatives flagged by detect-secrets", hard, python=python)


def _row(what: str, listed: Sequence[dict[str, Any]], *, python: str | None) -> Row:
    if python is None or not listed:
        why = "there are no such rows: set RINGFENCE_CORPORA" if python else f"no environment here has `{PEER}`"
        return Row(id="SAN-1", what=what, baseline="-", goal=None, measured=None, detail=why, unit=PERCENT)
    flagged = _flagged([row["text"] for row in listed], python=python)
    detail = f"{flagged:,} of {len(listed):,}, measured here"
    measured = 100 * flagged / len(listed)
    return Row(id="SAN-1", what=what, baseline="-", goal=None, measured=measured, detail=detail, unit=PERCENT)


def _flagged(texts: Sequence[str], *, python: str) -> int:
    ran = subprocess.run(
        [python, "-W", "ignore", "-m", _MODULE, "--found"],
        executable=real_binary(python),
        cwd=ROOT,
        input="".join(f"{json.dumps(text)}\n" for text in texts),
        capture_output=True,
        text=True,
        check=True,
    )
    return sum(json.loads(ran.stdout))
