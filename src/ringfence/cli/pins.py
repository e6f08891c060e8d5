"""`ringfence pins`: which contracts are accepted, what differs from them now, and an operator's word on it.

Takes: names of tools or sources.  Gives: pins and differences.
Never: accepts for somebody who is not an operator, or anything but what it just showed.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import click

from ringfence.cli.ending import COMPLETED, PROBLEMS
from ringfence.cli.opening import chosen_config, with_runtime
from ringfence.cli.options import config_option, json_option, login_name, person_option
from ringfence.cli.printing import counted, decided, emit_json, facts, heading, say, table
from ringfence.errors import Misuse
from ringfence.registry.diff import Difference
from ringfence.runtime import Runtime
from ringfence.runtime.pins import Pinned, chosen

_SHORT = len("sha256:") + 12
_SAYS = {
    "new": "seen once, accepted by nobody",
    "added": "added to a source that was accepted without it",
    "removed": "no longer offered",
    "renamed": "offered under another name",
    "changed": "its contract changed",
    "code_changed": "its source changed, its contract did not",
    "failed_gate": "failed the gate; it cannot be accepted",
}


@click.group("pins")
def command() -> None:
    """List accepted contracts, show what differs from them, accept the difference."""


@command.command("list")
@json_option
@config_option
def list_pins(as_json: bool) -> int:
    """List every pin with its trust, and whether its tool is in use."""

    async def work(runtime: Runtime) -> list[Pinned]:
        return await runtime.pins.list()

    rows = [each.document() for each in with_runtime(work, config=chosen_config())]
    if as_json:
        emit_json({"pins": rows})
    elif not rows:
        say("no tool is on record")
    else:
        columns = ("source", "tool", "trust", "in use", "fingerprint")
        table(columns, [_row(row) for row in rows])
    return COMPLETED


def _row(row: dict[str, str | None]) -> list[str]:
    used = row["quarantine"] or "yes"
    return [str(row["source"]), str(row["tool"]), str(row["trust"]), used, str(row["fingerprint"])[:_SHORT]]


@command.command("diff")
@click.argument("names", metavar="[TOOL|SOURCE]...", nargs=-1)
@json_option
@config_option
def diff(names: tuple[str, ...], as_json: bool) -> int:
    """Show what differs from what was accepted. Exit 0 nothing differs, 1 something does."""

    async def work(runtime: Runtime) -> tuple[Difference, ...]:
        found = await runtime.pins.diff()
        return chosen(found, names=names) if names else found

    found = with_runtime(work, config=chosen_config())
    if as_json:
        emit_json({"differences": [_document(each) for each in found]})
    else:
        _draw(found)
    return PROBLEMS if found else COMPLETED


@dataclass(frozen=True, kw_only=True)
class _Wanted:
    """What an acceptance is about: some tools or sources, or all; and the digests that were seen, if given."""

    names: tuple[str, ...]
    extent: str
    digests: tuple[str, ...]

    def of(self, found: tuple[Difference, ...]) -> tuple[Difference, ...]:
        picked = found if self.extent == "all" else chosen(found, names=self.names)
        if self.digests and {each.digest for each in picked} != set(self.digests):
            raise Misuse("what differs now is not what the digests name", remedy="review `ringfence pins diff` again")
        return picked


@command.command("accept")
@click.argument("names", metavar="[TOOL|SOURCE]...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Accept every difference.")
@click.option(
    "--digest", "digests", multiple=True, help="The digest of a difference you saw; nothing else is accepted."
)
@person_option
@json_option
@config_option
def accept(
    names: tuple[str, ...], everything: bool, digests: tuple[str, ...], person: str | None, as_json: bool
) -> int:
    """Accept what differs under the named tools or sources, as an operator. It is shown first."""
    if bool(names) == everything:
        raise Misuse("name tools or sources to accept, or give `--all`", remedy="`ringfence pins diff` lists them")
    wanted = _Wanted(names=names, extent="all" if everything else "named", digests=digests)
    operator = person or login_name()

    async def work(runtime: Runtime) -> tuple[Difference, ...]:
        picked = wanted.of(await runtime.pins.diff())
        if not as_json:
            _confirm(picked)
        return await runtime.pins.accept(picked, by=operator)

    accepted = with_runtime(work, config=chosen_config())
    if as_json:
        emit_json({"accepted": [_document(each) for each in accepted], "by": operator})
    elif accepted:
        decided("ok:", f"{counted(len(accepted), 'difference')} accepted by", operator)
    return COMPLETED


def _confirm(found: tuple[Difference, ...]) -> None:
    """Show what would be accepted; a person at a terminal is asked before it counts."""
    _draw(found)
    asks = bool(found) and sys.stdin.isatty() and sys.stdout.isatty()
    if asks and not click.confirm("Accept exactly this?"):
        raise Misuse("you did not accept, and nothing was changed", remedy="accept tool by tool, by name")


def _document(each: Difference) -> dict[str, object]:
    return {**each.document(), "digest": each.digest}


def _draw(found: tuple[Difference, ...]) -> None:
    if not found:
        decided("ok:", "everything on offer is as it was accepted")
    for each in found:
        renamed = f" (was {each.was})" if each.was else ""
        heading(f"{each.tool}{renamed} of {each.source}: {_SAYS[each.kind]}")
        facts(
            [
                ("accepted", each.pin.fingerprint if each.pin else None),
                ("offered", each.seen.fingerprint if each.seen and each.kind != "removed" else None),
                ("source", each.seen.source_digest if each.seen and each.kind == "code_changed" else None),
                ("digest", each.digest),
            ]
        )
        for fault in each.faults:
            say("  !", fault)
        for change in each.changes:
            _draw_change(change.path, change.before, change.after)


def _draw_change(path: str, before: str | None, after: str | None) -> None:
    say(f"  {path}")
    if before is not None:
        say("  -", before, style="red")
    if after is not None:
        say("  +", after, style="green")
