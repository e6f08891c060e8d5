"""`ringfence grants`: what operators approved in advance, within bounds.

Takes: an operator's word.  Gives: the grant on record.  Never: gives one without an end, a number of uses and a reason.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import click

from ringfence.approvals.standing import StandingGrant
from ringfence.assembly.config.texts import TextRefused, read_duration
from ringfence.cli.arguments import read_arguments
from ringfence.cli.ending import COMPLETED
from ringfence.cli.opening import chosen_config, records_only, with_runtime
from ringfence.cli.options import config_option, json_option, login_name, person_option
from ringfence.cli.printing import emit_json, facts, heading, say, table
from ringfence.errors import Misuse
from ringfence.runtime import Runtime


@click.group("grants")
def command() -> None:
    """Approve calls in advance, within bounds; list, sign and revoke that."""


@command.command("give")
@click.argument("agent")
@click.argument("tool")
@click.option("--uses", type=int, required=True, help="How many calls at most.")
@click.option("--expires", metavar="TIME", required=True, help="For how long, like `8h` or `7d`.")
@click.option("--because", required=True, help="Why, for the record.")
@click.option("--when", metavar="JSON", default="{}", help="Conditions on arguments, as in a rule's `when`.")
@click.option("--answers", metavar="REASON", multiple=True, help="A further reason that it answers; may be repeated.")
@person_option
@json_option
@config_option
def give(
    agent: str,
    tool: str,
    uses: int,
    expires: str,
    because: str,
    when: str,
    answers: tuple[str, ...],
    person: str | None,
    as_json: bool,
) -> int:
    """Approve calls of TOOL by AGENT in advance, as an operator.

    It answers the tool's own floors and route. A rule is named with --answers by its id or digest, any other
    reason by its kind. What needs two votes needs two operators: `ringfence grants sign`.
    """
    conditions = read_arguments(when)
    try:
        lasting = read_duration(expires)
    except (TextRefused, ValueError):
        raise Misuse(f"`{expires}` is no length of time", remedy="write it like `8h` or `7d`") from None

    async def work(runtime: Runtime) -> StandingGrant:
        return await runtime.grants.give(
            agent=agent,
            tool=tool,
            uses=uses,
            lasting=lasting,
            by=person or login_name(),
            because=because,
            when=conditions,
            answers=answers,
        )

    return _show(with_runtime(work, config=chosen_config()), as_json=as_json)


@command.command("sign")
@click.argument("grant_id", metavar="ID")
@click.option("--digest", help="The digest of the grant you saw; the signature counts for nothing else.")
@person_option
@json_option
@config_option
def sign(grant_id: str, digest: str | None, person: str | None, as_json: bool) -> int:
    """Sign the grant ID as another operator, so that it also answers what needs two votes."""

    async def work(runtime: Runtime) -> StandingGrant:
        return await runtime.grants.sign(grant_id, by=person or login_name(), digest=digest)

    return _show(with_runtime(work, config=records_only(chosen_config())), as_json=as_json)


@command.command("revoke")
@click.argument("grant_id", metavar="ID")
@click.option("--because", required=True, help="Why, for the record.")
@person_option
@json_option
@config_option
def revoke(grant_id: str, because: str, person: str | None, as_json: bool) -> int:
    """End the grant ID for good, as an operator."""

    async def work(runtime: Runtime) -> StandingGrant:
        return await runtime.grants.revoke(grant_id, by=person or login_name(), because=because)

    return _show(with_runtime(work, config=records_only(chosen_config())), as_json=as_json)


@command.command("list")
@click.option("--all", "which", flag_value="all", default=None, help="Also those that can no longer be used.")
@json_option
@config_option
def list_grants(which: str | None, as_json: bool) -> int:
    """List the standing grants that can still be used."""

    async def work(runtime: Runtime) -> list[StandingGrant]:
        return await runtime.grants.list()

    now = datetime.now(UTC)
    found = with_runtime(work, config=records_only(chosen_config()))
    shown = [each for each in found if which == "all" or each.state(now) == "open"]
    if as_json:
        emit_json({"grants": [_document(each) for each in shown]})
    elif not shown:
        say("no standing grant is open")
    else:
        rows = [_row(each, agent=each.bounds.agent, state=_state(each, now=now)) for each in shown]
        table(tuple(rows[0]), [tuple(row.values()) for row in rows])
    return COMPLETED


def show_grants(found: Sequence[StandingGrant]) -> None:
    """What was approved in advance for one agent, how much of it is left, by whom and why."""
    rows = [_row(each, because=each.bounds.because) for each in found]
    table(tuple(rows[0]), [tuple(row.values()) for row in rows])


def _show(grant: StandingGrant, *, as_json: bool) -> int:
    if as_json:
        emit_json(_document(grant))
        return COMPLETED
    bounds = grant.bounds
    heading("standing grant", grant.id, _state(grant, now=datetime.now(UTC)))
    facts(
        [
            ("agent", bounds.agent),
            ("tool", bounds.tool),
            ("when", _when(grant)),
            ("answers", ", ".join(("the tool's floors and route", *bounds.answers))),
            ("uses", f"{grant.uses} of {bounds.max_uses}"),
            ("expires", bounds.expires_at.isoformat(timespec="seconds")),
            ("because", bounds.because),
            ("signed by", ", ".join(grant.signed_by)),
            ("contract", bounds.fingerprint),
            ("source", bounds.source_digest),
            ("digest", grant.digest),
        ]
    )
    return COMPLETED


def _document(grant: StandingGrant) -> dict[str, Any]:
    return {**grant.document(), "state": grant.state(datetime.now(UTC))}


def _row(grant: StandingGrant, **more: str) -> dict[str, str]:
    bounds = grant.bounds
    return {
        "standing grant": grant.id,
        "tool": bounds.tool,
        "when": _when(grant),
        "uses": f"{grant.uses} of {bounds.max_uses}",
        "expires (UTC)": f"{bounds.expires_at.astimezone(UTC):%Y-%m-%d %H:%M}",
        "signed by": ", ".join(grant.signed_by),
        **more,
    }


def _state(grant: StandingGrant, *, now: datetime) -> str:
    if grant.ended is None:
        return grant.state(now).replace("_", " ")
    by = f" by {grant.ended.by}" if grant.ended.by else ""
    return f"ended{by}: {grant.ended.why}"


def _when(grant: StandingGrant) -> str:
    """Conditions as a rule has them, without the braces."""
    lines = [(path, name, value) for path, tests in grant.bounds.when.items() for name, value in tests.items()]
    return "; ".join(f"{path} {name} {json.dumps(value)}" for path, name, value in lines) or "any arguments"
