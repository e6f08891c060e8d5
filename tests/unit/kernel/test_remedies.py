"""Every mechanism that a machine may lack has a remedy, and every right that a Landlock may lack has a closure."""

from __future__ import annotations

from pathlib import Path

import pytest

from ringfence.cli.doctor import remedy_here, this_system
from ringfence.kernel import cgroups, landlock
from ringfence.kernel.closures import CLOSURES, closures
from ringfence.kernel.remedies import REMEDIES, SYSTEMS, causes_of, remedies_for
from ringfence.kernel.trials import TRIALS

pytestmark = pytest.mark.req("SBX-6")

MECHANISMS = [*(trial.name for trial in TRIALS), *(f"cgroup {name}" for name in cgroups.WANTED)]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_mechanism_has_a_remedy_for_any_system_and_a_cause(mechanism: str) -> None:
    assert remedies_for(mechanism)["any"]
    assert causes_of(mechanism).keys() == remedies_for(mechanism).keys()


def test_no_remedy_is_for_something_that_is_not_tried() -> None:
    assert {name for row in REMEDIES for name in row.mechanisms} == set(MECHANISMS)


def test_every_kind_of_system_has_words_of_its_own_for_namespaces() -> None:
    assert set(remedies_for("user namespace")) == set(SYSTEMS)
    assert "apparmor_restrict_unprivileged_userns" in remedies_for("user namespace")["ubuntu"]
    assert "--security-opt seccomp" in remedies_for("user namespace")["container"]


@pytest.mark.parametrize(
    ("release", "mark", "system"),
    [
        ("ID=debian\n", None, "debian"),
        ('ID=ubuntu\nID_LIKE="debian"\n', None, "ubuntu"),
        ("ID=linuxmint\nID_LIKE=ubuntu debian\n", None, "ubuntu"),
        ("ID=rocky\nID_LIKE=\"rhel centos fedora\"\n", None, "fedora"),
        ("ID=debian\n", ".dockerenv", "container"),
        ("ID=arch\n", None, "any"),
        ("", None, "any"),
    ],
)  # fmt: skip
def test_the_words_are_those_of_this_system(tmp_path: Path, release: str, mark: str | None, system: str) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/os-release").write_text(release)
    if mark is not None:
        (tmp_path / mark).write_text("")
    assert this_system(tmp_path) == system


def test_where_a_system_has_no_words_of_its_own_those_for_any_are_given() -> None:
    assert remedy_here("seccomp", system="fedora") == remedies_for("seccomp")["any"]


def test_every_right_that_an_older_landlock_lacks_is_closed_otherwise() -> None:
    lacking = {right.name: right.since for right in landlock.RIGHTS if right.since > 1}
    assert {row.right: row.since for row in CLOSURES} == lacking
    for version in range(8):
        assert {row.right for row in closures(version)} == {
            right.name for right in landlock.missing(version) if right.since > 1
        }
