"""A fresh interpreter under sandlock for each call, from a process that stays up, as its library is meant.

Takes: questions of the bench.  Gives: times.  Never: the start of this process.
"""

from __future__ import annotations

import importlib
import sys
import tempfile

from bench.harness.worker import serve
from bench.peers.noop import SCRIPT, quickest
from bench.peers.sandlock_run import quick_start


def main() -> None:
    sandlock = importlib.import_module("sandlock")
    words = [quickest(), "-I", "-c", SCRIPT]
    with tempfile.TemporaryDirectory() as scratch:

        def noop() -> None:
            result = quick_start(sandlock, shown=[sys.base_prefix], scratch=scratch).run(words)
            if not result.success or result.stdout.strip() != b"{}":
                raise RuntimeError(f"sandlock did not run the script: {result}")

        serve({"noop": noop})


if __name__ == "__main__":
    main()
