"""A process is confined when every mark of confinement is there; one missing mark refuses it."""

from __future__ import annotations

import copy
import dataclasses
import errno
from typing import Any

import pytest

from ringfence.errors import CallRefused
from ringfence.inside.measure import TRIES
from ringfence.kernel.status import ProcessStatus
from ringfence.sandbox.posture import Baseline, Sighting, check_spare, check_zygote, judge_inside
from tests.asserting import assert_accepts

pytestmark = pytest.mark.req("SBX-6")

KINDS = ("user", "mnt", "pid", "net", "ipc", "uts")
BASELINE = Baseline(filters=0, depth=1, namespaces={kind: f"{kind}:[host]" for kind in KINDS})
STATUS = ProcessStatus(
    seccomp_mode=2,
    seccomp_filters=1,
    no_new_privileges=1,
    effective=0,
    permitted=0,
    inheritable=0,
    bounding=0,
    ambient=0,
    pids=(500, 2),
    uids=(77,) * 4,
    gids=(77,) * 4,
    parent=400,
    threads=1,
)
ZYGOTE = Sighting(pid=500, status=STATUS, namespaces={kind: f"{kind}:[jail]" for kind in KINDS}, uid_map="1000 77 1")
SPARE = Sighting(
    pid=501,
    status=dataclasses.replace(STATUS, seccomp_filters=2, pids=(501, 3, 1)),
    namespaces={**{kind: f"{kind}:[call]" for kind in KINDS}, "net": "net:[jail]", "uts": "uts:[jail]"},
    uid_map="1000 77 1",
)
WRONG: dict[str, Any] = {
    "seccomp_mode": 0,
    "seccomp_filters": 0,
    "no_new_privileges": 0,
    "effective": 1 << 21,
    "permitted": 1,
    "inheritable": 1,
    "ambient": 1,
    "pids": (500,),
    "uids": (0, 77, 77, 77),
    "parent": 1,
    "threads": 2,
}
MEASURED: dict[str, Any] = {
    "tries": {one.name: errno.errorcode[one.refused_with[0]] for one in TRIES},
    "pid": 1,
    "uid": 1000,
    "processes": [1],
    "descriptors": [0, 1, 2, 3],
    "environment": ["HOME"],
    "hostname": "jail",
    "writable": ["/dev/null", "/proc", "/tmp"],
}


def zygote(seen: Sighting) -> None:
    check_zygote(seen, baseline=BASELINE, warden=400, uid=77)


def spare(seen: Sighting) -> None:
    check_spare(seen, baseline=BASELINE, warden=400, uid=77, zygote=ZYGOTE)


def inside(measured: dict[str, Any]) -> None:
    judge_inside(measured, environment={"HOME": "/tmp"})


def test_the_confined_pass() -> None:
    assert_accepts(zygote, ZYGOTE)
    assert_accepts(spare, SPARE)
    assert_accepts(inside, MEASURED)


@pytest.mark.parametrize("field", sorted(WRONG))
def test_each_missing_mark_refuses(field: str) -> None:
    for check, seen in ((zygote, ZYGOTE), (spare, SPARE)):
        status = dataclasses.replace(seen.status, **{field: WRONG[field]})
        with pytest.raises(CallRefused) as refused:
            check(dataclasses.replace(seen, status=status))
        assert refused.value.code == "posture_insufficient"


@pytest.mark.parametrize("kind", KINDS)
def test_a_namespace_shared_with_the_host_refuses(kind: str) -> None:
    for check, seen in ((zygote, ZYGOTE), (spare, SPARE)):
        shared = {**seen.namespaces, kind: f"{kind}:[host]"}
        with pytest.raises(CallRefused, match=f"shares the {kind} namespace"):
            check(dataclasses.replace(seen, namespaces=shared))


@pytest.mark.parametrize("kind", ["user", "mnt", "pid", "ipc"])
def test_a_namespace_shared_with_the_zygote_refuses_a_spare(kind: str) -> None:
    with pytest.raises(CallRefused, match=f"shares the {kind} namespace"):
        spare(dataclasses.replace(SPARE, namespaces={**SPARE.namespaces, kind: f"{kind}:[jail]"}))


def test_another_uid_map_refuses() -> None:
    with pytest.raises(CallRefused, match="uid map"):
        spare(dataclasses.replace(SPARE, uid_map="0 0 4294967295"))


def test_the_zygote_itself_is_no_spare() -> None:
    with pytest.raises(CallRefused):
        spare(ZYGOTE)


@pytest.mark.parametrize("name", [one.name for one in TRIES])
def test_each_try_that_succeeded_from_inside_refuses(name: str) -> None:
    measured = copy.deepcopy(MEASURED)
    measured["tries"][name] = "done"
    with pytest.raises(CallRefused, match="measured from inside"):
        inside(measured)


@pytest.mark.parametrize("name", [one.name for one in TRIES])
def test_each_try_that_was_not_made_refuses(name: str) -> None:
    measured = copy.deepcopy(MEASURED)
    del measured["tries"][name]
    with pytest.raises(CallRefused):
        inside(measured)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("pid", 2),
        ("uid", 0),
        ("processes", [1, 2]),
        ("descriptors", [0, 1, 2, 3, 9]),
        ("environment", ["CANARY", "HOME"]),
        ("hostname", "host"),
        ("writable", ["/", "/tmp"]),
    ],
)
def test_what_the_measuring_child_sees_of_itself_must_fit(field: str, value: object) -> None:
    with pytest.raises(CallRefused):
        inside({**MEASURED, field: value})
