"""A blueprint is a pure value: equal walls have one hash, other walls another."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ringfence.contract.capabilities import Storage
from ringfence.contract.limits import Limits
from ringfence.errors import CallRefused
from ringfence.inside.layout import Order
from ringfence.inside.ordering import read, spell
from ringfence.kernel import landlock
from ringfence.policy.grant import NOTHING, Grant
from ringfence.sandbox import blueprint
from ringfence.sandbox.blueprint import Blueprint, compile_blueprint
from ringfence.sandbox.installation import Installation

pytestmark = pytest.mark.req("SBX-3")

HERE = Installation(
    executable="/opt/python",
    library="/opt/lib",
    standard=("/opt/lib/python3", "/opt/lib/python3/lib-dynload"),
    distributions=("/srv/venv/site-packages",),
    package="/srv/clone/src/ringfence",
)


def compiled(
    *, limits: Limits | None = None, environment: dict[str, str] | None = None, installation: Installation = HERE
) -> Blueprint:
    return compile_blueprint(
        NOTHING,
        limits=limits or Limits(),
        environment=environment or {},
        installation=installation,
        landlock_version=7,
    )


def test_equal_walls_have_one_hash_and_other_walls_another() -> None:
    assert compiled().hash == compiled().hash
    others = [
        compiled(),
        compiled(limits=Limits(memory_mb=64)),
        compiled(limits=Limits(wall_seconds=1)),
        compiled(environment={"TZ": "UTC"}),
    ]
    assert len({each.hash for each in others}) == len(others)


def test_a_need_without_a_backend_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blueprint, "SERVED", blueprint.SERVED - {"storage"})
    with pytest.raises(CallRefused) as refused:
        compile_blueprint(
            Grant(capabilities=(Storage("tool"),)),
            limits=Limits(),
            environment={},
            installation=HERE,
            landlock_version=7,
        )
    assert refused.value.code == "not_available"


def test_only_the_package_of_an_editable_install_is_mounted() -> None:
    mounted = [mount.path for mount in compiled().layout.mounts]
    assert "/srv/clone/src/ringfence" in mounted
    assert not any("/srv/clone/src/ringfence".startswith(path + "/") for path in mounted)
    assert compiled().layout.import_path[-1] == "/srv/clone/src"


def test_nothing_is_mounted_twice() -> None:
    mounted = [mount.path for mount in compiled().layout.mounts]
    assert "/opt/lib" in mounted
    assert not [path for path in mounted if path.startswith("/opt/lib/")]


def test_no_rule_lets_anything_execute_and_only_scratch_is_written() -> None:
    rules = compiled().layout.rules
    assert not any(rule.rights & landlock.mask("execute") for rule in rules)
    assert [rule.path for rule in rules if rule.rights & landlock.mask("make_reg")] == ["/tmp"]


def test_a_configured_variable_cannot_replace_one_of_the_jail_s() -> None:
    assert ("HOME", "/tmp") in compiled(environment={"HOME": "/elsewhere"}).layout.environment


def test_what_lies_under_tmp_is_bound_again_over_the_scratch() -> None:
    under = replace(HERE, package="/tmp/clone/src/ringfence")
    layout = compiled(installation=under).layout
    assert (layout.hidden_by_scratch(), layout.binds) == (("/tmp/clone/src/ringfence",), "again")
    assert layout.stage_a != compiled().layout.stage_a


def test_an_order_survives_the_way_to_the_jail() -> None:
    order = Order(layout=compiled().layout, source="/s\n{", module="m", uid=1, gid=2)
    assert read(spell(order)) == order


@pytest.mark.parametrize(("limit", "bound"), [("cpu_seconds", "cpu_seconds"), ("pids", "processes")])
def test_a_stated_limit_stands_and_an_open_one_takes_the_default(limit: str, bound: str) -> None:
    assert getattr(compiled(limits=Limits(**{limit: 7})).layout.bounds, bound) == 7
    assert getattr(compiled().layout.bounds, bound) > 0
