"""Every library in a real jail of the posture `full`: it reaches the listed host, and the other hears nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.integration.edge.beside import port_to
from tests.integration.edge.matrix import PROGRAMS, ROWS, Row, expected, run_rows

pytestmark = pytest.mark.req("NET-1", "NET-2", "NET-5", "NET-6")

ALL = (*ROWS, *PROGRAMS)


@pytest.fixture(scope="module", name="told")
def what_each_row_came_to(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("matrix")
    with port_to(cluster.folder / ".s.PGSQL.5432") as port, pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", "")
        return asyncio.run(run_rows(Path(folder), database_port=port, rows=ALL))


@pytest.mark.parametrize("row", ALL, ids=[row.name for row in ALL])
def test_a_library_reaches_the_listed_host_and_the_other_hears_nothing(told: dict[str, Any], row: Row) -> None:
    assert told[row.name] == expected(row, posture="full")


def test_a_letter_arrives_whole(told: dict[str, Any]) -> None:
    (letter,) = told["letters"]
    assert letter.endswith("\r\n\r\nhello\r\n.\r\n")
