"""`ringfence approvals`: what waits for a vote, exactly as it would run, and one person's word on it.

Takes: a person's word.  Gives: what became of the request.
Never: votes on anything but the card that was shown here, or that `--digest` names.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime

import click

from ringfence.approvals.inbox import Approval, ApprovalStatus, Word
from ringfence.assembly import Config
from ringfence.cli.card import card_document, show_card
from ringfence.cli.ending import COMPLETED
from ringfence.cli.opening import chosen_config, records_only, with_runtime
from ringfence.cli.options import config_option, json_option, login_name, person_option
from ringfence.cli.printing import decided, emit_json, say, table
from ringfence.errors import VoteRefused
from ringfence.runtime import Runtime


@click.group("approvals")
def command() -> None:
    """List, show, approve and reject calls that wait."""


@command.command("list")
@json_option
@config_option
def list_waiting(as_json: bool) -> int:
    """List every call that waits for votes, oldest first."""
    config = records_only(chosen_config())

    async def work(runtime: Runtime) -> list[Approval]:
        return await runtime.approvals.list()

    waiting = with_runtime(work, config=config)
    if as_json:
        emit_json({"approvals": [card_document(each, electorate=config.electorate) for each in waiting]})
    elif not waiting:
        say("nothing waits for a vote")
    else:
        columns = ("approval", "agent", "tool", "arguments", "votes", "expires in")
        table(columns, [_row(each) for each in waiting])
        say("`ringfence approvals show ID` shows all that a vote would bind to")
    return COMPLETED


@command.command("show")
@click.argument("approval_id", metavar="ID")
@json_option
@config_option
def show(approval_id: str, as_json: bool) -> int:
    """Show the request ID: the bytes that will run, every reason, and who may vote."""
    config = records_only(chosen_config())

    async def work(runtime: Runtime) -> Approval:
        return await _waiting(runtime, approval_id)

    found = with_runtime(work, config=config)
    if as_json:
        emit_json(card_document(found, electorate=config.electorate))
    else:
        show_card(found, electorate=config.electorate)
    return COMPLETED


@command.command("approve")
@click.argument("approval_id", metavar="ID")
@person_option
@click.option("--reason", help="Why, for the record.")
@click.option("--digest", help="The digest of the card you saw; the vote counts for nothing else.")
@json_option
@config_option
def approve(approval_id: str, person: str | None, reason: str | None, digest: str | None, as_json: bool) -> int:
    """Approve the request ID; on a terminal, its card is shown first and you are asked."""
    return _vote(approval_id, "approve", person=person, reason=reason, digest=digest, as_json=as_json)


@command.command("reject")
@click.argument("approval_id", metavar="ID")
@person_option
@click.option("--reason", required=True, help="Why; the model is told.")
@click.option("--digest", help="The digest of the card you saw; the vote counts for nothing else.")
@json_option
@config_option
def reject(approval_id: str, person: str | None, reason: str, digest: str | None, as_json: bool) -> int:
    """Reject the request ID, with a reason that the model is told."""
    return _vote(approval_id, "reject", person=person, reason=reason, digest=digest, as_json=as_json)


def _vote(
    approval_id: str, word: Word, *, person: str | None, reason: str | None, digest: str | None, as_json: bool
) -> int:
    config = records_only(chosen_config())

    async def work(runtime: Runtime) -> Approval:
        seen = digest or await _seen(runtime, approval_id, word=word, config=config, as_json=as_json)
        voter = person or login_name()
        return await runtime.approvals.vote(
            approval_id, voter=voter, decision=word, reason=reason, digest=seen, door="cli"
        )

    voted = with_runtime(work, config=config)
    if as_json:
        emit_json(voted.document())
    else:
        _tell(voted)
    return COMPLETED


async def _seen(runtime: Runtime, approval_id: str, *, word: Word, config: Config, as_json: bool) -> str:
    """The digest of the card that is shown now; a person at a terminal is asked before it counts."""
    found = await _waiting(runtime, approval_id)
    if not as_json:
        show_card(found, electorate=config.electorate)
        asks = word == "approve" and sys.stdin.isatty() and sys.stdout.isatty()
        if asks and not click.confirm("Approve exactly this?"):
            raise VoteRefused(
                "you did not approve, and no vote was given", remedy="`ringfence approvals reject` says no"
            )
    return found.digest


async def _waiting(runtime: Runtime, approval_id: str) -> Approval:
    found = next((each for each in await runtime.approvals.list() if each.id == approval_id), None)
    if found is None:
        raise VoteRefused(f"no request `{approval_id}` waits for a vote")
    return found


def _tell(voted: Approval) -> None:
    given = sum(vote.decision == "approve" for vote in voted.votes)
    decided(voted.status.value, f"with {given} of {voted.votes_needed} votes")
    if voted.status is ApprovalStatus.APPROVED:
        say("  now: ringfence calls resume", voted.invocation_id)


def _row(each: Approval) -> list[str]:
    card = each.card
    given = sum(vote.decision == "approve" for vote in each.votes)
    minutes = max(0, int((each.expires_at - datetime.now(UTC)).total_seconds() // 60))
    left = f"{minutes // 60} h {minutes % 60} min"
    return [each.id, card["agent"], card["tool"], card["arguments"], f"{given} of {each.votes_needed}", left]
