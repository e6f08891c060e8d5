"""A tool in any language has its secret in a variable of the secret's name: a placeholder, swapped like any other."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ringfence.assembly import open_runtime
from ringfence.runtime import Completed, Failed, Outcome, Runtime
from tests.acceptance.secrets.far import Desk, a_desk, private_file

pytestmark = pytest.mark.req("CON-11", "SEC-2")

VALUE = "zebra-orchid-41-lantern"
FRONT = """---
kind: tool
schema_version: 1
name: {name}
safety_class: read
permission_level: read_only
entrypoint: run
needs:
  network: ["{here}"]
  secrets: {{names: [{secret}], hosts: ["{here}"]}}
  processes: [curl]
input_schema: {{type: object, properties: {{}}, additionalProperties: false}}
output_schema: {{type: object, properties: {{said: {{type: string}}}}, required: [said], additionalProperties: false}}
---
Ask the desk.
"""
SAYS = """#!/bin/sh
said=$({command} 2>&1)
printf '{{"said": "%s"}}' "$said"
"""
# Each program, by what it runs.
PROGRAMS = {
    "ask": 'curl -sS -H "Authorization: Bearer $DESK_KEY" https://{here}/',
    "show": "echo $DESK_KEY",
    "smuggle": 'curl -sS "https://{here}/?key=$DESK_KEY" || true',
    "look": "echo $SSL_CERT_FILE $RINGFENCE_AGENT",
}


def write(folder: Path, name: str, *, here: str, secret: str = "DESK_KEY") -> None:
    place = folder / "tools" / name
    place.mkdir(parents=True)
    (place / "TOOL.md").write_text(FRONT.format(name=name, here=here, secret=secret))
    (place / "run").write_text(SAYS.format(command=PROGRAMS[name].format(here=here)))


def config(folder: Path, desk: Desk) -> dict[str, Any]:
    key = private_file(folder / "desk.key", VALUE)
    names = ["DESK_KEY", "SSL_CERT_FILE"]
    return {
        "version": 1,
        "tools": {"folders": [str(folder / "tools")]},
        "people": {"bob": {"roles": ["operator"]}},
        "agents": {
            "ana": {
                "allowed_tools": ["*"],
                "network": desk.network,
                "processes": {"allow": ["curl"]},
                "secrets": {"allow": names},
            }
        },
        "secrets": {name: {"file": key} for name in names},
        "sandbox": {"kind": "local"},
        "store": {"url": f"sqlite:///{folder}/state/ringfence.db"},
        "audit": {"anchor": f"{folder}/state/anchor.log", "signing_key": f"{folder}/state/audit.key"},
    }


@asynccontextmanager
async def opened(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[tuple[Runtime, Desk]]:
    async with a_desk(folder, monkeypatch) as desk:
        for name in PROGRAMS:
            write(folder, name, here=desk.here, secret="SSL_CERT_FILE" if name == "look" else "DESK_KEY")
        async with open_runtime(config(folder, desk), accept_as="bob") as runtime:
            yield runtime, desk


def said(outcome: Outcome) -> str:
    assert isinstance(outcome, Completed), outcome
    return str(outcome.as_dict()["output"]["said"])


async def test_a_program_uses_its_secret_and_never_has_the_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path, monkeypatch) as (runtime, desk):
        session = runtime.session(agent="ana")
        assert said(await session.call("ask", {})) == "hello"
        assert f"Authorization: Bearer {VALUE}\r\n".encode() in desk.heard[0]
        shown = said(await session.call("show", {}))
        assert (shown != "", VALUE in shown, "REDACTED" in shown) == (True, False, False)


async def test_a_program_that_puts_it_elsewhere_gets_none_of_it_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path, monkeypatch) as (runtime, desk):
        outcome = await runtime.session(agent="ana").call("smuggle", {})
        assert isinstance(outcome, Completed | Failed)
        refusals = outcome.effects["network"]["refusals"]
        assert [refusal["code"] for refusal in refusals] == ["secret_misplaced"]
        noticed = [event["body"] async for event in runtime.audit.export() if event["kind"] == "security_event"]
    assert desk.heard == []
    assert "secret_misplaced" in json.dumps(noticed)


async def test_a_secret_does_not_take_the_place_of_a_variable_of_the_jail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path, monkeypatch) as (runtime, _):
        assert said(await runtime.session(agent="ana").call("look", {})) == "/etc/ringfence/roots.pem ana"
