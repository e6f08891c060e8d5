"""The local jail passes the suite that ships with the protocol, with namespaces and without."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import ClassVar

import pytest

from ringfence.contract.capabilities import Capability
from ringfence.contract.tool import Tool
from ringfence.execution.sandbox import Job, Sandbox
from ringfence.sandbox.local import LocalProcessSandbox
from ringfence.sandbox.pool import Pool
from ringfence.sandbox.snapshot import Snapshots, Source, read_file
from ringfence.testing.sandbox_suite import SandboxSuite, file_of, job_for
from tests.integration.sandbox.test_confined import LAUNCHER, PYTHON, ROOT, SECONDS, environment
from tests.integration.sandbox.tools import for_the_suite

pytestmark = pytest.mark.req("SBX-1", "OPS-6")


def source_of(declared: Tool) -> Source:
    module, file = file_of(declared)
    return read_file(file, module=module.rpartition(".")[2])


class TestLocal(SandboxSuite):
    echo: ClassVar[Tool] = for_the_suite.suite_echo
    failing: ClassVar[Tool] = for_the_suite.suite_raise
    state: ClassVar[Path]

    @pytest.fixture(autouse=True)
    def _state(self, tmp_path: Path) -> None:
        type(self).state = tmp_path
        Snapshots(tmp_path).keep(source_of(self.echo))

    @staticmethod
    def factory() -> Sandbox:
        return LocalProcessSandbox(Pool(Snapshots(TestLocal.state)))

    def job(self, declared: Tool, *, number: int = 1, text: str = "x", grant: tuple[Capability, ...] = ()) -> Job:
        return job_for(declared, number=number, text=text, grant=grant, source_digest=source_of(declared).digest)


@pytest.mark.req("SBX-6")
def test_the_suite_passes_without_namespaces_too() -> None:
    program = Path(pytest.__file__).parent / "__main__.py"
    words = ["-q", "-n", "0", "-p", "no:cacheprovider", f"{Path(__file__).relative_to(ROOT)}::TestLocal"]
    done = subprocess.run(
        [PYTHON, str(LAUNCHER), "--without", "namespaces", str(program), *words],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=SECONDS,
        env={**environment(), "PYTHONPATH": os.pathsep.join([str(ROOT), environment()["PYTHONPATH"]])},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3_000:] + done.stderr[-1_000:]
