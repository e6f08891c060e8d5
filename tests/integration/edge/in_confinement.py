"""The matrix on a host without namespaces, as one program: it prints what each row came to, as JSON."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path

from tests.integration.edge.matrix import ROWS, run_rows

if __name__ == "__main__":
    os.umask(0o022)
    with tempfile.TemporaryDirectory() as made:
        os.chmod(made, 0o755)
        print(json.dumps(asyncio.run(run_rows(Path(made), database_port=int(sys.argv[1]), rows=ROWS))))
