"""Below what is demanded nothing runs, and without namespaces what was mounted becomes a rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from ringfence.contract.capabilities import KINDS
from ringfence.contract.limits import Limits
from ringfence.errors import CallRefused
from ringfence.inside.confined import confined_filters
from ringfence.kernel import landlock
from ringfence.kernel.cgroups import Hierarchy
from ringfence.policy.grant import NOTHING
from ringfence.sandbox.blueprint import Blueprint, compile_blueprint
from ringfence.sandbox.confining import PostureName, confine, demanded, fitted
from ringfence.sandbox.enforceable import HOLDINGS
from ringfence.sandbox.exposed import Exposed
from ringfence.sandbox.installation import this_installation
from ringfence.sandbox.tasks import Tasks

pytestmark = pytest.mark.req("SBX-6")

NO_GROUPS = Hierarchy(version=2, folders={})
GROUPS = Hierarchy(version=2, folders={"memory": Path("/nowhere")})
WHY = "operation not permitted"


def full(version: int = 7) -> Blueprint:
    return compile_blueprint(
        NOTHING,
        limits=Limits(),
        environment={"TZ": "UTC"},
        installation=this_installation(),
        landlock_version=version,
    )


def fit(
    blueprint: Blueprint,
    *,
    lacking: str | None = WHY,
    demands: PostureName = "confined",
    kinds: tuple[str, ...] = (),
    hierarchy: Hierarchy = NO_GROUPS,
) -> Blueprint:
    return fitted(blueprint, kinds=kinds, demands=demands, lacking=lacking, hierarchy=hierarchy)


def test_the_strictest_demand_counts() -> None:
    assert demanded("confined", "confined") == "confined"
    assert demanded("confined", "full") == demanded("full", "confined") == "full"


def test_where_there_are_namespaces_the_blueprint_stays_as_it_is() -> None:
    blueprint = full()
    assert fit(blueprint, lacking=None, demands="full") is blueprint
    assert fit(blueprint, lacking=None, demands="confined") is blueprint


def test_below_what_is_demanded_nothing_runs_and_the_reason_is_told() -> None:
    with pytest.raises(CallRefused, match=WHY) as refused:
        fit(full(), demands="full")
    assert refused.value.code == "posture_insufficient"


def test_without_namespaces_what_was_mounted_is_readable_and_nothing_is_writable() -> None:
    blueprint = fit(full())
    layout = blueprint.layout
    assert (blueprint.posture, layout.posture) == ("confined", "confined")
    assert (layout.mounts, layout.devices, layout.links, layout.files) == ((), (), (), ())
    assert {rule.path for rule in layout.rules} == {*(m.path for m in full().layout.mounts), *full().layout.devices}
    assert {rule.rights for rule in layout.rules} == {landlock.READ, landlock.USE_DEVICE}
    assert [rule.path for rule in layout.rules if rule.rights != landlock.READ] == list(full().layout.devices)
    assert layout.environment == (("LANG", "C.UTF-8"), ("TZ", "UTC"))
    assert (layout.bounds.scratch_bytes, layout.bounds.scratch_inodes) == (0, 0)


@pytest.mark.parametrize("version", [1, 3, 5, 7])
def test_the_hash_names_the_posture_and_the_filters_of_the_version(version: int) -> None:
    confined = confine(full(version))
    assert (confined.layout.stage_a, confined.layout.stage_b) == confined_filters(version).digests
    assert confined.hash != full(version).hash
    assert len({confine(full(each)).hash for each in (1, 3, 5, 7)}) == 4


def test_every_need_has_one_row_that_says_what_becomes_of_it() -> None:
    assert sorted(row.need for row in HOLDINGS) == sorted(KINDS)


@pytest.mark.parametrize("kind", [*(row.need for row in HOLDINGS if row.state == "refused"), "telepathy"])
def test_a_need_that_this_posture_does_not_hold_is_not_enforceable(kind: str) -> None:
    with pytest.raises(CallRefused, match=f"`{kind}`") as refused:
        fit(full(), kinds=(kind,), hierarchy=GROUPS)
    assert refused.value.code == "not_enforceable"
    assert refused.value.remedy


def test_what_goes_over_the_calls_own_channel_is_held_without_namespaces() -> None:
    assert fit(full(), kinds=("secrets", "storage")).posture == "confined"


@pytest.mark.req("SBX-9")
def test_an_exposed_source_can_be_read_by_all_who_know_its_name_and_is_gone_afterwards(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "tool.py").write_text("x")
    (kept / "tool.py").chmod(0o444)
    kept.chmod(0o555)
    exposed = Exposed()
    place = exposed.folder(kept, digest="sha256:abc")
    assert exposed.folder(kept, digest="sha256:abc") == place
    assert (place / "tool.py").read_text() == "x"
    assert (place.stat().st_mode & 0o777, place.parent.stat().st_mode & 0o777) == (0o555, 0o711)
    exposed.close()
    exposed.close()
    assert not place.parent.exists()


@pytest.mark.req("SBX-9")
def test_what_a_killed_host_left_exposed_is_swept_and_a_living_ones_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    dead, foreign = tmp_path / "ringfence-sources-1-99999999999-abc", tmp_path / "ringfence-sources-notes"
    dead.mkdir()
    foreign.mkdir()
    kept = tmp_path / "kept"
    kept.mkdir()
    living, other = Exposed(), Exposed()
    place = living.folder(kept, digest="sha256:abc")
    other.folder(kept, digest="sha256:abc")
    assert [dead.exists(), foreign.exists(), place.exists()] == [False, True, True]
    living.close()
    other.close()


def test_the_tasks_of_a_user_are_counted_with_their_threads() -> None:
    assert Tasks(0).count() >= 1
    assert Tasks(3_999_999_999).count() == 0
