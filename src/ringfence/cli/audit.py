"""`ringfence audit`: the trail as a reader meets it: its end, its proof, all of it.

Takes: nothing but the store.  Gives: events, or a report.  Never: changes a row.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import closing
from pathlib import Path
from typing import Any, TextIO

import click

from ringfence.audit.verify import Report
from ringfence.cli.ending import COMPLETED, PROBLEMS
from ringfence.cli.opening import chosen_config, records_only, with_runtime
from ringfence.cli.options import config_option, json_option
from ringfence.cli.printing import counted, decided, emit_json, emit_line, facts, say
from ringfence.errors import Misuse, TrailUnavailable
from ringfence.runtime import Runtime


@click.group("audit")
def command() -> None:
    """Read, prove and export the audit trail."""


@command.command("tail")
@click.option("-n", "count", type=click.IntRange(min=0), default=20, show_default=True, help="How many events.")
@click.option("--follow", "-f", is_flag=True, help="Go on until interrupted.")
@json_option
@config_option
def tail(count: int, follow: bool, as_json: bool) -> int:
    """Show the newest events, oldest first; with --json one JSON document a line."""
    tell = emit_line if as_json else _say_event

    async def work(runtime: Runtime) -> None:
        coming = runtime.events()
        for event in await runtime.audit.last(count):
            tell(event)
        if follow:
            async for event in coming:
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


def show_report(report: Report, *, key: str | None) -> None:
    """What verification found, and what it rests on."""
    if report.ok:
        anchored = "no anchor" if report.anchored is None else f"{report.anchored} in the anchor"
        signed = f"{counted(report.checkpoints, 'checkpoint')} ({anchored})"
        decided("ok:", f"{counted(report.events, 'event')} in whole chains, {signed}")
    else:
        decided("problem:", f"the trail is broken: {counted(len(report.problems), 'problem')}")
        for problem in report.problems:
            say("  -", problem)
    facts(
        [
            ("key", report.key),
            ("after the last checkpoint", counted(report.uncovered, "event") if report.uncovered else None),
        ]
    )
    if report.ok and key is None:
        say("  the key was read on this machine; give the fingerprint that you keep elsewhere as --key")


@command.command("export")
@click.option("--output", metavar="FILE", help="Write here; the file must not exist. [default: standard output]")
@config_option
def export(output: str | None) -> int:
    """Write every event as JSONL, with all that its hash covers."""
    config = records_only(chosen_config())

    async def work(runtime: Runtime) -> int:
        count = 0
        with closing(_new_file(output)) if output else _Borrowed(sys.stdout) as stream:
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


def _new_file(output: str) -> TextIO:
    try:
        descriptor = os.open(Path(output), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        reason = (error.strerror or "it cannot be made").lower()
        raise Misuse(
            f"`{output}` cannot be written: {reason}", remedy="name a new file in a folder that exists"
        ) from None
    return os.fdopen(descriptor, "w", encoding="utf-8")


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
