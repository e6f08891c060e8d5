"""A jail's uid belongs to nobody else on the machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ringfence.errors import CallRefused
from ringfence.sandbox.identities import DEFAULT_RANGE, Accounts, Identities

pytestmark = pytest.mark.req("SBX-3")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine's lists of accounts; root runs the host there."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    (tmp_path / "etc").mkdir()
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/1").mkdir()
    (tmp_path / "proc/self/uid_map").write_text("0 0 4294967295\n")
    (tmp_path / "etc/passwd").write_text("root:x:0:0::/:\nann:x:3000:3000::/:\nbroken line\n")
    (tmp_path / "etc/subuid").write_text("ann:3002:2\n")
    return tmp_path


def lend(machine: Path, candidates: range) -> list[int]:
    identities = Identities(candidates=candidates, accounts=Accounts(root=machine))
    found: list[int] = []
    with pytest.raises(CallRefused, match="no unused id") as refused:
        found.extend(uid for uid, _ in iter(identities.lend, None))
    assert refused.value.code == "posture_insufficient"
    return found


def test_ids_of_accounts_subordinate_ranges_and_processes_are_left_out(machine: Path) -> None:
    os.chown(machine / "proc/1", 3005, 3005)
    assert lend(machine, range(3000, 3007)) == [3001, 3004, 3006]


def test_ids_that_this_user_namespace_does_not_have_are_left_out(machine: Path) -> None:
    (machine / "proc/self/uid_map").write_text("0 100000 3002\n")
    assert lend(machine, range(3000, 3007)) == [3001]


def test_a_given_back_id_is_lent_again(machine: Path) -> None:
    identities = Identities(candidates=range(5000, 5001), accounts=Accounts(root=machine))
    uid, gid = identities.lend()
    assert uid == gid == 5000
    identities.give_back(uid)
    assert identities.lend() == (5000, 5000)


def test_an_ordinary_user_has_the_own_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1234)
    monkeypatch.setattr(os, "getegid", lambda: 1235)
    assert Identities().lend() == (1234, 1235)


def test_the_default_range_is_far_above_what_distributions_hand_out() -> None:
    assert DEFAULT_RANGE.start > 1_000_000_000
    assert DEFAULT_RANGE.stop < 1 << 31
