"""A process without namespaces is confined when every mark of it is there; one missing mark refuses it."""

from __future__ import annotations

import copy
import dataclasses
import errno
from typing import Any

import pytest

from ringfence.errors import CallRefused
from ringfence.inside.layout import Layout
from ringfence.inside.measure_confined import tries_for
from ringfence.kernel.status import ProcessStatus
from ringfence.sandbox.confining import confine
from ringfence.sandbox.posture import Baseline, Sighting
from ringfence.sandbox.posture_confined import check_spare, check_zygote, judge_inside
from tests.asserting import assert_accepts
from tests.unit.sandbox.test_confining import full

pytestmark = pytest.mark.req("SBX-6")

BASELINE = Baseline(filters=1, depth=1, namespaces={"user": "user:[host]"})
STATUS = ProcessStatus(
    seccomp_mode=2, seccomp_filters=2, no_new_privileges=1, effective=0, permitted=0, inheritable=0, bounding=0,
    ambient=0, pids=(500,), uids=(77,) * 4, gids=(77,) * 4, parent=400, threads=1,
)  # fmt: skip
ZYGOTE = Sighting(pid=500, status=STATUS, namespaces={}, uid_map="0 0 4294967295")
SPARE = dataclasses.replace(ZYGOTE, pid=501, status=dataclasses.replace(STATUS, seccomp_filters=3, pids=(501,)))
WRONG: dict[str, Any] = {
    "seccomp_mode": 0,
    "seccomp_filters": 1,
    "no_new_privileges": 0,
    "effective": 1 << 21,
    "permitted": 1,
    "inheritable": 1,
    "ambient": 1,
    "pids": (501, 1),
    "uids": (77, 77, 77, 0),
    "parent": 1,
    "threads": 2,
}


def layout(version: int = 7) -> Layout:
    return confine(full(version)).layout


def measured(version: int = 7) -> dict[str, Any]:
    return {
        "tries": {one.name: errno.errorcode[one.refused_with[0]] for one in tries_for(version)},
        "uids": [77],
        "groups": [],
        "descriptors": [0, 1, 2, 3],
        "environment": ["LANG", "TZ"],
        "landlock": version,
    }


def test_a_confined_zygote_and_its_spare_are_accepted() -> None:
    assert_accepts(check_zygote, ZYGOTE, baseline=BASELINE, warden=400, uid=77)
    assert_accepts(check_spare, SPARE, baseline=BASELINE, warden=400, uid=77, zygote=ZYGOTE)


@pytest.mark.parametrize("field", WRONG)
def test_one_missing_mark_refuses_a_zygote_and_a_spare(field: str) -> None:
    wrong = {field: WRONG[field]}
    with pytest.raises(CallRefused, match="a confined zygote"):
        check_zygote(
            dataclasses.replace(ZYGOTE, status=dataclasses.replace(STATUS, **wrong)),
            baseline=BASELINE, warden=400, uid=77,
        )  # fmt: skip
    with pytest.raises(CallRefused, match="a confined spare") as refused:
        check_spare(
            dataclasses.replace(SPARE, status=dataclasses.replace(SPARE.status, **wrong)),
            baseline=BASELINE, warden=400, uid=77, zygote=ZYGOTE,
        )  # fmt: skip
    assert refused.value.code == "posture_insufficient"


def test_the_zygote_does_not_pass_for_its_own_spare() -> None:
    with pytest.raises(CallRefused, match="imported the tool"):
        check_spare(
            dataclasses.replace(SPARE, pid=ZYGOTE.pid), baseline=BASELINE, warden=400, uid=77, zygote=ZYGOTE
        )  # fmt: skip


def test_a_process_that_does_not_hide_from_its_user_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 77)
    assert_accepts(check_zygote, ZYGOTE, baseline=BASELINE, warden=400, uid=77)
    with pytest.raises(CallRefused, match="hidden"):
        check_zygote(
            dataclasses.replace(ZYGOTE, namespaces={"user": "user:[host]"}), baseline=BASELINE, warden=400, uid=77
        )


@pytest.mark.parametrize("version", [1, 3, 5, 7])
def test_a_jail_that_refused_everything_is_accepted(version: int) -> None:
    assert_accepts(judge_inside, measured(version), layout=layout(version), uid=77, gid=77)


@pytest.mark.parametrize("name", [one.name for one in tries_for(1)])
@pytest.mark.parametrize("answer", ["done", None])
def test_a_try_that_was_not_refused_refuses_the_jail(name: str, answer: str | None) -> None:
    seen = copy.deepcopy(measured(1))
    seen["tries"][name] = answer
    with pytest.raises(CallRefused, match="measured from inside") as refused:
        judge_inside(seen, layout=layout(1), uid=77, gid=77)
    assert refused.value.code == "posture_insufficient"


@pytest.mark.parametrize(
    ("name", "value"),
    [("uids", [0, 77]), ("descriptors", [0, 1, 2, 3, 9]), ("environment", ["CANARY"]), ("landlock", 0)],
)
def test_what_a_confined_process_sees_of_itself_counts_too(name: str, value: object) -> None:
    with pytest.raises(CallRefused, match=name):
        judge_inside({**measured(), name: value}, layout=layout(), uid=77, gid=77)


def test_roots_jail_keeps_no_group_of_roots(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    with pytest.raises(CallRefused, match="groups"):
        judge_inside({**measured(), "groups": [4]}, layout=layout(), uid=77, gid=77)
