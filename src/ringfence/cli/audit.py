"""`ringfence audit`: the trail as a reader meets it: its end, its proof, all of it.

Takes: nothing but the store.  Gives: events, or a report.  Never: changes an event.
"""

from __future__ import annotations

import json
import sys
from contextlib import closing
from typing import Any, TextIO

import click

from ringfence.audit.verify import Report
from ringfence.cli.audit_bundle import bundle, show_report, verify_a_bundle
from ringfence.cli.audit_raw import raw
from ringfence.cli.audit_replay import replay
from ringfence.cli.audit_retention import prune
from ringfence.cli.ending import COMPLETED, PROBLEMS
from ringfence.cli.new_file import new_file
from ringfence.cli.opening import chosen_config, records_only, with_runtime
from ringfence.cli.options import config_option, json_option
from ringfence.cli.printing import counted, emit_json, emit_line, say
from ringfence.errors import TrailUnavailable
from ringfence.runtime import Runtime


@click.group("audit")
def command() -> None:
    """Read, prove, export, bundle, replay and prune the audit trail."""


for _more in (bundle, verify_a_bundle, replay, prune, raw):
    command.add_command(_more)


@command.command("tail")
@click.option("-n", "count", type=click.IntRange(min=0), default=20, show_default=True, help="How many events.")
@click.option("--follow", "-f", is_flag=True, help="Go on until interrupted.")
@json_option
@config_option
def tail(count: int, follow: bool, as_json: bool) -> int:
    """Show the newest events, oldest first; with --json one JSON document a line."""
    tell = emit_line if as_json else _say_event

    async def work(runtime: Runtime) -> None:
        if follow:
            async for event in runtime.audit.follow(last=count):
                tell(event)
        for event in await runtime.audit.last(count):
            tell(event)

    with_runtime(work, config=records_only(chosen_config()))
    return COMPLETED


@command.command("verify")
@click.option("--key", metavar="FINGERPRINT", help="The fingerprint of the public key, as `init` printed it.")
@json_option
@config_option
def verify(key: str | None, as_json: bool) -> int:
    """Prove that nothing in the trail was altered, removed, cut off or put back. Exit 0 whole, 1 broken."""

    report = _report(key)
    if as_json:
        emit_json({"ok": report.ok, **vars(report), "problems": list(report.problems)})
    else:
        show_report(report, key=key)
    return COMPLETED if report.ok else PROBLEMS


def _report(key: str | None) -> Report:
    found: list[Report] = []

    async def work(runtime: Runtime) -> None:
        found.append(await runtime.audit.verify(key=key))

    try:
        with_runtime(work, config=records_only(chosen_config()))
    except TrailUnavailable:
        # A broken trail is not signed when the store is closed; the report says more than that refusal.
        if not found or found[0].ok:
            raise
    return found[0]


@command.command("export")
@click.option("--output", metavar="FILE", help="Write here; the file must not exist. [default: standard output]")
@config_option
def export(output: str | None) -> int:
    """Write every event as JSONL, with all that its hash covers."""
    config = records_only(chosen_config())

    async def work(runtime: Runtime) -> int:
        count = 0
        with closing(new_file(output)) if output else _Borrowed(sys.stdout) as stream:
            async for event in runtime.audit.export():
                stream.write(json.dumps(event) + "\n")
                count += 1
        return count

    count = with_runtime(work, config=config)
    if output:
        say(counted(count, "event"), "written to", output)
    return COMPLETED


class _Borrowed:
    """A stream that is somebody else's to close."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __enter__(self) -> TextIO:
        return self._stream

    def __exit__(self, *_: object) -> None:
        self._stream.flush()


def _say_event(event: dict[str, Any]) -> None:
    about = " ".join(str(event[key]) for key in ("agent", "tool", "safety", "invocation_id") if event[key])
    say(f"{event['at'][:19]}  {event['kind']:<34}", about, _gist(event))
    sys.stdout.flush()


def _gist(event: dict[str, Any]) -> str:
    """The one fact that a reader looks for first."""
    body: dict[str, Any] = event["body"] or {}
    for key in ("decision", "vote", "code", "status", "trust"):
        if body.get(key):
            return f"{key}={body[key]}"
    return ""
