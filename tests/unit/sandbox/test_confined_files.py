"""Without namespaces what was granted is held by its identity and served to its owner, who is not root."""

from __future__ import annotations

import dataclasses
import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ringfence.errors import CallRefused
from ringfence.inside import confined
from ringfence.inside.layout import WORKSPACE, Access, Granted, Layout, identity_of
from ringfence.inside.measure_confined import tries_for
from ringfence.kernel import landlock
from ringfence.sandbox.confining import confine
from ringfence.sandbox.enforceable import require_enforceable
from ringfence.sandbox.footing import MOUNTED, Footing, footing_on_disk, owner_of
from ringfence.sandbox.identities import Identities
from ringfence.sandbox.posture_confined import judge_inside
from tests.unit.sandbox.test_confining import NO_GROUPS, full

pytestmark = pytest.mark.req("SBX-4", "SBX-6")

ANA, BEN = 1234, 1235


def granted(place: Path, *, access: Access = "read") -> Granted:
    return Granted(path=f"{WORKSPACE}/x", source=str(place), identity=identity_of(place.stat()), access=access)


class Rules:
    """Takes down what a ruleset was told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, int]] = []

    def allow_opened(self, descriptor: int, *, rights: int) -> None:
        self.told.append((identity_of(os.fstat(descriptor)), rights))


def allow(each: Granted) -> list[tuple[str, int]]:
    rules: Any = Rules()
    confined._allow_granted(rules, each)  # pyright: ignore[reportPrivateUsage]
    told: list[tuple[str, int]] = rules.told
    return told


@pytest.mark.parametrize(("access", "rights"), [("read", landlock.READ), ("write", landlock.WRITE)])
def test_a_rule_is_for_the_very_folder_and_for_no_more_than_was_granted(
    tmp_path: Path, access: Access, rights: int
) -> None:
    assert allow(granted(tmp_path, access=access)) == [(identity_of(tmp_path.stat()), rights)]
    assert not landlock.READ & landlock.mask("write_file", "truncate", "make_reg", "remove_file", "refer")
    assert not landlock.WRITE & landlock.mask("execute", "make_sym", "make_fifo", "make_sock", "make_char")


def test_a_name_that_leads_to_another_folder_by_now_makes_no_rule(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    before = granted(tmp_path / "a")
    (tmp_path / "a").rename(tmp_path / "b")
    (tmp_path / "a").mkdir()
    with pytest.raises(OSError, match="no longer the file that was granted"):
        allow(before)
    (tmp_path / "a").rmdir()
    (tmp_path / "a").symlink_to(tmp_path / "c")
    (tmp_path / "c").mkdir()
    with pytest.raises(OSError, match="no longer the file that was granted"):
        allow(before)


@pytest.fixture
def owned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Granted]:
    """Makes a folder of some owner, as the host of root sees it."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)

    def make(name: str, uid: int, gid: int) -> Granted:
        (tmp_path / name).mkdir()
        found = granted(tmp_path / name)
        os.chown(tmp_path / name, uid, gid)
        return found

    return make


def test_a_jail_of_root_has_the_ids_of_the_one_owner(owned: Callable[..., Granted]) -> None:
    assert owner_of([owned("a", ANA, BEN), owned("b", ANA, ANA)]) == (ANA, BEN)


def test_a_folder_of_roots_group_does_not_put_its_owner_into_that_group(owned: Callable[..., Granted]) -> None:
    assert owner_of([owned("a", ANA, 0)]) == (ANA, ANA)


@pytest.mark.parametrize(("owners", "why"), [((ANA, BEN), "belongs to several"), ((0, 0), "belongs to root")])
def test_files_of_root_or_of_two_owners_are_not_served_by_root(
    owned: Callable[..., Granted], owners: tuple[int, int], why: str
) -> None:
    with pytest.raises(CallRefused, match=why) as refused:
        owner_of([owned(f"of {number}", uid, uid) for number, uid in enumerate(owners)])
    assert (refused.value.code, "chown" in (refused.value.remedy or "")) == ("not_enforceable", True)


def test_a_folder_that_was_replaced_or_is_gone_has_no_owner(owned: Callable[..., Granted]) -> None:
    found = owned("a", ANA, ANA)
    os.rename(found.source, f"{found.source} before")
    with pytest.raises(CallRefused, match="cannot be seen any more"):
        owner_of([found])
    os.mkdir(found.source)
    with pytest.raises(CallRefused, match="no longer the file"):
        owner_of([found])


def test_an_ordinary_users_jail_keeps_that_users_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: ANA)
    assert owner_of([granted(tmp_path)]) is None
    (tmp_path / "link").symlink_to(tmp_path)
    assert footing_on_disk(str(tmp_path / "link"), ()) == Footing(workspace=str(tmp_path))
    assert footing_on_disk(None, ()) == MOUNTED


def test_an_owners_id_is_lent_to_nobody_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    identities = Identities()
    identities.give_back(ANA)
    lent, _ = identities.lend()
    assert lent != ANA
    identities.give_back(lent)
    assert identities.lend() == (lent, lent)


def laid_out(each: Granted) -> Layout:
    return dataclasses.replace(full().layout, granted=(each,), clients=("files",))


@pytest.mark.parametrize("source", ["/tmp", "/"])
def test_a_folder_that_is_everybodys_is_not_granted(source: str) -> None:
    layout = laid_out(dataclasses.replace(granted(Path("/tmp")), source=source))
    with pytest.raises(CallRefused, match="is everybody's") as refused:
        require_enforceable(["files"], layout=layout, hierarchy=NO_GROUPS)
    assert refused.value.code == "not_enforceable"


def test_without_a_folder_to_write_no_file_can_be_written_at_all(tmp_path: Path) -> None:
    bounds: dict[Access, int] = {"read": 0, "write": full().layout.bounds.scratch_bytes}
    for access, most in bounds.items():
        layout = laid_out(granted(tmp_path, access=access))
        held = confine(dataclasses.replace(full(), layout=layout)).layout
        assert held.bounds.scratch_bytes == most


def test_a_grant_that_holds_more_than_it_says_refuses_the_jail(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    for each in (granted(tmp_path), granted(tmp_path, access="write"), granted(file)):
        layout = confine(dataclasses.replace(full(), layout=laid_out(each))).layout
        tries = {one.name: errno.errorcode[one.refused_with[0]] for one in tries_for(7, (each,), ("files",))}
        own = [name for name in tries if str(tmp_path) in name]
        assert own
        measured: dict[str, Any] = {
            "tries": tries, "uids": [77], "groups": [], "descriptors": [0, 1, 2, 3],
            "environment": sorted(name for name, _ in layout.environment), "landlock": 7,
        }  # fmt: skip
        judge_inside(measured, layout=layout, uid=77, gid=77)
        for name in own:
            with pytest.raises(CallRefused, match="is not confined"):
                judge_inside({**measured, "tries": {**tries, name: "done"}}, layout=layout, uid=77, gid=77)
