"""What shows that a call changed nothing: every grant measured, and every measure at nothing."""

from __future__ import annotations

from typing import Any

import pytest

from ringfence import Files, Network, Processes, Secrets, Storage
from ringfence.contract.capabilities import Capability
from ringfence.execution.sandbox import Effects
from ringfence.execution.traces import left_nothing
from ringfence.policy.grant import Grant

pytestmark = pytest.mark.req("IDM-3", "SBX-8")

NET = Network("api.example.com")
KEY = Secrets("KEY", hosts=["api.example.com"])
OUT = Files(write=["outbox"])
QUIET: dict[str, Any] = {"hosts": [], "bytes_out": 0, "bytes_in": 0}
LINE: dict[str, Any] = {"host": "api.example.com", "way": "opaque", "connections": 1, "bytes_out": 0}
CLEAN: dict[str, Any] = {"written": [], "removed": [], "coverage": "whole"}


def shown(*needs: Capability, **measured: Any) -> bool:
    return left_nothing(Grant(capabilities=needs), Effects(**measured))


def test_whoever_was_granted_nothing_changed_nothing() -> None:
    assert left_nothing(Grant(capabilities=()), None)


@pytest.mark.parametrize("needs", [(NET,), (OUT,), (Storage("tool"),), (NET, OUT), (Processes("git"), OUT), (KEY, NET)])
def test_what_was_not_measured_is_not_shown(needs: tuple[Capability, ...]) -> None:
    assert not left_nothing(Grant(capabilities=needs), None)
    assert not shown(*needs)


def test_a_connection_without_a_byte_asked_for_nothing() -> None:
    assert shown(NET, network=QUIET)
    assert shown(NET, network={**QUIET, "hosts": [LINE]})


@pytest.mark.parametrize(
    "network",
    [
        {},
        {"hosts": []},
        {**QUIET, "bytes_out": 1},
        {**QUIET, "bytes_out": None},
        {**QUIET, "bytes_out": False},
        {**QUIET, "hosts": [{**LINE, "bytes_out": 1}]},
        {**QUIET, "hosts": [{"host": "api.example.com"}]},
    ],
)
def test_a_byte_out_or_a_count_that_is_missing_shows_nothing(network: dict[str, Any]) -> None:
    assert not shown(NET, network=network)


@pytest.mark.parametrize(
    "files",
    [{**CLEAN, "coverage": "partial"}, {**CLEAN, "written": ["a"]}, {**CLEAN, "removed": ["a"]}, {}, {"written": []}],
)
def test_a_file_or_a_partial_listing_shows_nothing(files: dict[str, Any]) -> None:
    assert shown(OUT, files=CLEAN)
    assert not shown(OUT, files=files)


def test_files_that_may_only_be_read_need_no_measure() -> None:
    assert shown(Files(read=["knowledge"]))
    assert shown(Files(read=["knowledge"]), NET, network=QUIET)


def test_programs_and_secrets_are_judged_by_what_leaves_the_walls() -> None:
    assert shown(Processes("git"), KEY)
    assert shown(Processes("git"), OUT, NET, network=QUIET, files=CLEAN)
    assert not shown(Processes("git"), OUT, NET, network=QUIET, files={**CLEAN, "written": ["a"]})
