"""`ringfence audit bundle` and `verify-bundle`: the trail in one file, proved where there is no store.

Takes: a file's name, and elsewhere a fingerprint.  Gives: a sealed file, or a report.
Never: proves a bundle against the key that it brings along.
"""

from __future__ import annotations

import os
from contextlib import suppress

import click

from ringfence.audit.bundle import verify_bundle
from ringfence.audit.verify import Report
from ringfence.cli.ending import COMPLETED, PROBLEMS
from ringfence.cli.new_file import new_binary_file
from ringfence.cli.opening import chosen_config, records_only, with_runtime
from ringfence.cli.options import config_option, json_option
from ringfence.cli.printing import counted, decided, emit_json, facts, say
from ringfence.errors import Misuse
from ringfence.runtime import Runtime


@click.command("bundle")
@click.argument("output", metavar="OUT")
@json_option
@config_option
def bundle(output: str, as_json: bool) -> int:
    """Write the whole trail to the new file OUT, sealed, so that it verifies elsewhere."""

    async def work(runtime: Runtime) -> tuple[int, str]:
        report = await runtime.audit.verify()
        with new_binary_file(output) as file:
            try:
                lines = await runtime.audit.bundle(file.write)
            except BaseException:
                with suppress(OSError):
                    os.unlink(output)  # half a bundle proves nothing
                raise
        return lines, report.key

    lines, key = with_runtime(work, config=records_only(chosen_config()))
    if as_json:
        emit_json({"bundle": output, "lines": lines, "key": key})
    else:
        decided("ok:", f"{counted(lines, 'line')} written to", output)
        say(f"  elsewhere: ringfence audit verify-bundle {output} --key {key}")
    return COMPLETED


@click.command("verify-bundle")
@click.argument("file", metavar="FILE", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--key", metavar="FINGERPRINT", required=True, help="The fingerprint that `init` printed, kept elsewhere."
)
@json_option
def verify_a_bundle(file: str, key: str, as_json: bool) -> int:
    """Prove the bundle FILE; it needs no config and no store. Exit 0 whole, 1 broken."""
    try:
        with open(file, "rb") as stream:
            report = verify_bundle(stream, key=key)
    except OSError as error:
        raise Misuse(f"`{file}` cannot be read: {(error.strerror or 'unknown').lower()}") from None
    if as_json:
        emit_json({"ok": report.ok, **vars(report), "problems": list(report.problems)})
    else:
        show_report(report, key=key)
    return COMPLETED if report.ok else PROBLEMS


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
