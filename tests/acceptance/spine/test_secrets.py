"""A configured secret: refused at load where it could not be hidden, from a model, and in all that leaves."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ringfence.errors import ConfigInvalid
from ringfence.execution.sandbox import Effects, Fault, RawOutput
from ringfence.runtime import Failed
from tests.acceptance.spine.household import (
    assert_completed,
    assert_refused,
    assert_waiting,
    config,
    open_house,
    reply,
    scripted,
)

VALUE = "zebra-orchid-41-lantern"
BASE64 = base64.b64encode(b"user:" + VALUE.encode()).decode()


def bound(folder: Path, value: str = VALUE, **sections: Any) -> dict[str, Any]:
    """A house whose CRM_KEY is in a file."""
    file = folder / "crm.key"
    file.write_text(value + "\n")
    file.chmod(0o600)
    return config(folder, secrets={"CRM_KEY": {"file": str(file)}}, **sections)


def everything_kept(folder: Path) -> bytes:
    """Every byte that the runtime left on disk, apart from the secret's own file."""
    files = [file for file in folder.rglob("*") if file.is_file() and file.name != "crm.key"]
    return b"".join(file.read_bytes() for file in files)


def holds(content: bytes) -> bool:
    spelled = (VALUE, VALUE[::-1], VALUE.encode().hex(), BASE64[8:-4])
    return any(each.encode() in content for each in spelled)


@pytest.mark.req("SEC-3")
async def test_a_value_too_short_to_be_hidden_is_an_error_of_the_config(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid) as raised:
        async with open_house(bound(tmp_path, "short42")):
            pass
    (problem,) = raised.value.problems
    assert "secrets.CRM_KEY" in problem
    assert "fewer than 8 characters" in problem
    assert "short42" not in problem


@pytest.mark.req("SEC-1")
@pytest.mark.parametrize(
    "place",
    [
        {"env": "NOT_SET_ANYWHERE"},
        {"directory": "no/such/folder"},
        {"command": ["/nowhere/at/all"]},
    ],
)
async def test_a_source_without_a_value_does_not_keep_a_runtime_from_opening(tmp_path: Path, place: Any) -> None:
    async with open_house(config(tmp_path, secrets={"CRM_KEY": place})) as house:
        assert_completed(await house.call("look_up", {"name": "x"}))


@pytest.mark.req("SEC-3")
@pytest.mark.parametrize("spelled", [VALUE, BASE64, VALUE.encode().hex(), f"x {VALUE} y"])
async def test_a_model_that_passes_a_value_is_refused_and_the_value_is_kept_nowhere(
    tmp_path: Path, spelled: str
) -> None:
    async with open_house(bound(tmp_path)) as house:
        refused = assert_refused(await house.call("look_up", {"name": spelled}), "secret_in_arguments")
        assert_refused(await house.call("look_up", {spelled: "x"}), "secret_in_arguments")
        assert_refused(await house.call(f"look_{spelled}", {"name": "x"}), "secret_in_arguments")
        assert house.ran == []
        noticed = [event["body"] for event in await house.events("security_event")]
    assert "CRM_KEY" not in refused.for_model()
    assert noticed == [{"what": "secret_in_arguments", "detail": ["CRM_KEY"]}] * 3
    assert not holds(everything_kept(tmp_path))


@pytest.mark.req("SEC-3")
async def test_explaining_a_call_with_a_value_in_it_is_refused_too(tmp_path: Path) -> None:
    async with open_house(bound(tmp_path)) as house:
        explained = await house.runtime.explain("ana", "look_up", {"name": VALUE})
    assert (explained.decision.word, explained.code) == ("deny", "secret_in_arguments")


SAYS: dict[str, RawOutput] = {
    "output": reply([{"id": 1, "name": f"the key is {VALUE}"}]),
    "Base64": reply([{"id": 1, "name": BASE64}]),
    "backwards": reply([{"id": 1, "name": VALUE[::-1]}]),
    "text for the model": reply([{"id": 1, "name": "x"}], for_model=f"psst {VALUE}"),
    "printed": RawOutput(reply=b'[{"id": 1, "name": "x"}]', printed=f"debug {VALUE}\n".encode() + b"\xff"),
    "evidence": RawOutput(reply=b'[{"id": 1, "name": "x"}]', evidence={"trace": f"line 3: {VALUE!r}"}),
    "effects": RawOutput(
        reply=b'[{"id": 1, "name": "x"}]', effects=Effects(network={"names": [{"name": f"{VALUE}.evil.example"}]})
    ),
    "an error": RawOutput(reply=None, fault=Fault(code="tool_error", message=f"401 for {VALUE}")),
    "no JSON": RawOutput(reply=f"{VALUE} {{".encode()),
    "a wrong shape": reply({"unexpected": VALUE}),
    "a key": reply([{"id": 1, "name": "x", VALUE: "y"}]),
}


@pytest.mark.req("SEC-3")
@pytest.mark.parametrize("how", SAYS)
async def test_a_value_that_a_tool_says_leaves_in_no_text_log_or_file(
    tmp_path: Path, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    jail = scripted({"look_up": SAYS[how]})
    async with open_house(bound(tmp_path), sandbox=jail) as house:
        outcome = await house.call("look_up", {"name": "x"})
        trail = json.dumps(await house.events())
        sealed = json.dumps(await house.runtime.audit.raw(outcome.invocation_id, by="bob"))
        noticed = [event["body"]["what"] for event in await house.events("security_event")]
    assert "secret_scrubbed" in noticed
    said = f"{outcome.as_dict()}{outcome.for_model()}{outcome!r}{trail}{sealed}{caplog.text}"
    assert not holds(said.encode())
    assert not holds(everything_kept(tmp_path))
    assert "[REDACTED:CRM_KEY]" in trail + sealed


@pytest.mark.req("SEC-3")
async def test_output_without_a_value_is_left_as_it_is(tmp_path: Path) -> None:
    async with open_house(bound(tmp_path)) as house:
        completed = assert_completed(await house.call("look_up", {"name": "zebra-orchid"}))
        assert completed.output == [{"id": 1, "name": "zebra-orchid"}]
        assert await house.events("security_event") == []


class Broken:
    """A sandbox that raises with a value in its words."""

    def __init__(self, jail: Any) -> None:
        self._jail = jail

    def __getattr__(self, name: str) -> Any:
        return getattr(self._jail, name)

    async def run(self, job: Any) -> RawOutput:
        raise RuntimeError(f"cannot sign in with {VALUE}")


@pytest.mark.req("SEC-3")
async def test_a_log_record_and_its_traceback_are_scrubbed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    jail: Any = Broken(scripted())
    async with open_house(bound(tmp_path), sandbox=jail) as house:
        failed = await house.call("look_up", {"name": "x"})
        logging.getLogger("ringfence.edge").warning("the header was %s", VALUE)
    assert isinstance(failed, Failed)
    assert "the header was [REDACTED:CRM_KEY]" in caplog.messages
    assert "cannot sign in with [REDACTED:CRM_KEY]" in caplog.text
    assert not holds(caplog.text.encode())


@pytest.mark.req("SEC-3")
async def test_after_a_runtime_log_records_are_made_as_before(tmp_path: Path) -> None:
    before = logging.getLogRecordFactory()
    async with open_house(bound(tmp_path)):
        assert logging.getLogRecordFactory() is not before
    assert logging.getLogRecordFactory() is before


@pytest.mark.req("SEC-3")
async def test_a_value_that_was_rotated_in_and_out_is_still_scrubbed(tmp_path: Path) -> None:
    said: Callable[[Any], Any] = lambda _: [{"id": 1, "name": VALUE}]  # noqa: E731
    async with open_house(bound(tmp_path), sandbox=scripted({"look_up": said})) as house:
        (tmp_path / "crm.key").write_text("another-value-of-it\n")
        completed = assert_completed(await house.call("look_up", {"name": "x"}))
    assert completed.output == [{"id": 1, "name": "[REDACTED:CRM_KEY]"}]


@pytest.mark.req("SEC-2", "SEC-1")
async def test_a_revealed_secret_needs_a_vote_is_on_the_card_and_its_version_is_on_record(tmp_path: Path) -> None:
    async with open_house(bound(tmp_path)) as house:
        waiting = assert_waiting(await house.call("log_in", {"name": "x"}))
        (card,) = [approval.card for approval in await house.runtime.approvals.list()]
        assert "the value of a secret enters the jail" in [reason["because"] for reason in card["reasons"]]
        assert [need["reveal"] for need in card["grant"] if need["kind"] == "secrets"] == [True]
        await house.vote(waiting, "alice")
        await house.session(id=card["session"]).resume(waiting.invocation_id)
        (started,) = await house.events("tool_started")
        (job,) = house.sandbox.jobs
    assert list(started["body"]["secrets"]) == ["CRM_KEY"]
    assert job.placements is not None
    assert job.placements.in_the_jail()["CRM_KEY"]["revealed"] == VALUE
    assert VALUE not in f"{job!r}{started}{card}"


@pytest.mark.req("SEC-2")
async def test_a_call_whose_secret_is_not_to_be_had_does_not_start(tmp_path: Path) -> None:
    async with open_house(bound(tmp_path)) as house:
        waiting = assert_waiting(await house.call("log_in", {"name": "x"}))
        (approval,) = await house.runtime.approvals.list()
        await house.vote(waiting, "alice")
        (tmp_path / "crm.key").unlink()
        outcome = await house.session(id=approval.card["session"]).resume(waiting.invocation_id)
        assert_refused(outcome, "not_available")
        assert (house.ran, await house.events("tool_started")) == ([], [])
