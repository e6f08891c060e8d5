"""What a jail enforces is measured, kept with the call, and a machine that falls short runs nothing."""

from __future__ import annotations

import dataclasses
import errno
import json
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from ringfence.errors import CallRefused
from ringfence.inside.measure import tries_with
from ringfence.kernel import landlock
from ringfence.sandbox import posture
from ringfence.sandbox.identities import Identities
from ringfence.sandbox.installation import this_installation
from ringfence.sandbox.pool import Pool
from ringfence.sandbox.posture import Baseline
from tests.integration.sandbox.driver import Yard

pytestmark = [pytest.mark.req("SBX-6"), pytest.mark.usefixtures("failing_leaves_nothing")]


async def test_the_evidence_is_what_the_host_read_of_the_very_process(tmp_path: Path) -> None:
    yard = Yard(state=tmp_path)
    await yard.load("plain")
    raw = await yard.run("add", {"a": 1, "b": 2})
    process = raw.evidence["process"]
    assert raw.evidence["posture"] == "full"
    assert raw.evidence["blueprint"] == yard.sandbox.blueprint(yard.job("add")).hash
    assert raw.evidence["inside"].startswith("sha256:")
    assert (process["seccomp"], process["filters"] >= 2, process["no_new_privileges"]) == (2, True, 1)
    assert (process["capabilities"], process["threads"], process["pids"][-1]) == ("0", 1, 1)
    assert process["uid_map"] == f"1000 {process['uid']} 1"
    assert json.loads(json.dumps(raw.evidence)) == raw.evidence
    await yard.close()


async def test_a_jail_that_cannot_be_built_runs_nothing(tmp_path: Path) -> None:
    yard = Yard(state=tmp_path)
    await yard.load("plain")
    await yard.close()
    here = this_installation()
    broken = dataclasses.replace(here, distributions=(*here.distributions, str(tmp_path / "not-there")))
    yard.pool = Pool(yard.snapshots, installation=broken)
    yard.sandbox = type(yard.sandbox)(yard.pool)
    code, message = await yard.fault("add", {"a": 1, "b": 2})
    assert code == "posture_insufficient"
    assert "open_tree" in message
    await yard.close()


async def test_without_an_unused_uid_nothing_runs(tmp_path: Path) -> None:
    yard = Yard(state=tmp_path, identities=Identities(candidates=range(0, 1)))
    with pytest.raises(Exception, match="no unused id"):
        await yard.load("plain")
    await yard.close()


async def test_without_landlock_nothing_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    yard = Yard(state=tmp_path)
    await yard.load("plain")
    monkeypatch.setattr(landlock, "version", lambda: 0)
    assert (await yard.fault("add", {"a": 1, "b": 2}))[0] == "posture_insufficient"
    await yard.close()


async def test_a_zygote_with_a_wall_too_few_imports_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of = Baseline.of

    def one_filter_more(pid: int) -> Baseline:
        return dataclasses.replace(of(pid), filters=of(pid).filters + 1)

    monkeypatch.setattr(Baseline, "of", one_filter_more)
    yard = Yard(state=tmp_path)
    with pytest.raises(CallRefused, match="a zygote is not confined: seccomp filters") as refused:
        await yard.load("plain")
    assert refused.value.code == "posture_insufficient"
    await yard.close()


async def test_a_jail_that_admits_what_it_must_refuse_imports_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The jail says `EPERM` to this one; nothing less than `ENOSYS` is asked of it here.
    asked = [dataclasses.replace(one, refused_with=(errno.ENOSYS,)) for one in tries_with(()) if one.name == "mount"]
    monkeypatch.setattr(posture, "tries_with", Mock(return_value=tuple(asked)))
    yard = Yard(state=tmp_path)
    with pytest.raises(
        CallRefused, match="measured from inside, is not confined: `mount` \\(seccomp\\): EPERM"
    ) as refused:
        await yard.load("plain")
    assert refused.value.code == "posture_insufficient"
    await yard.close()


async def test_on_another_system_nothing_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    yard = Yard(state=tmp_path)
    await yard.load("plain")
    monkeypatch.setattr(sys, "platform", "darwin")
    code, message = await yard.fault("add", {"a": 1, "b": 2})
    assert (code, message) == ("posture_insufficient", "the local jail needs Linux, and this is `darwin`")
    monkeypatch.undo()
    await yard.close()


async def test_a_variable_of_the_host_arrives_only_when_it_is_named(tmp_path: Path) -> None:
    yard = Yard(state=tmp_path, environment={"GREETING": "hello"})
    await yard.load("nosy")
    assert "GREETING=hello" in (await yard.output("surroundings"))["environment"]
    await yard.close()
