"""The same worker as an ordinary user: what a jail costs somebody who is not root.

Takes: a module under `bench.sides`.  Gives: a worker under another uid, or the reason why there is none.
Never: counts a worker that still has root's rights.
"""

from __future__ import annotations

import os
import pwd
import site
import subprocess
import sys
from dataclasses import dataclass

from bench.harness.python import ROOT, real_binary
from bench.harness.worker import Worker

_NAME = "nobody"


@dataclass(frozen=True, kw_only=True)
class Ordinary:
    """An interpreter, its packages and the uid they were seen to work under."""

    python: str
    uid: int
    environment: dict[str, str]

    def worker(self, module: str) -> Worker:
        return Worker(module, python=self.python, uid=self.uid, environment=self.environment)


def find_ordinary() -> Ordinary | str:
    """An interpreter that an ordinary user can run with these packages; or why there is none."""
    if os.geteuid() != 0:
        return "this run is an ordinary user's already"
    try:
        uid = pwd.getpwnam(_NAME).pw_uid
    except KeyError:
        return f"there is no user `{_NAME}` here"
    environment = {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src"), *site.getsitepackages()])}
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for python in (real_binary(sys.executable), f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        if _works(python, uid=uid, environment=environment):
            return Ordinary(python=python, uid=uid, environment=environment)
    return f"no {version} that `{_NAME}` can run sees these packages"


def _works(python: str, *, uid: int, environment: dict[str, str]) -> bool:
    command = [python, "-c", "import ringfence, bench"]
    try:
        tried = subprocess.run(
            command, user=uid, group=uid, extra_groups=[], env=environment, cwd="/", capture_output=True, check=False
        )
    except OSError:
        return False
    return tried.returncode == 0
