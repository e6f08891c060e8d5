"""The card of a request for votes: the same bytes that will run, and all that speaks for or against them.

Takes: an approval and who there is.  Gives: lines or JSON.  Never: leaves out or beautifies what would run.
"""

from __future__ import annotations

from typing import Any

from ringfence.approvals.inbox import Approval
from ringfence.approvals.people import Electorate
from ringfence.cli.explain import granted, spoken
from ringfence.cli.printing import facts, heading, say, table


def may_vote(approval: Approval, *, electorate: Electorate) -> list[str]:
    """Whose vote would still count, in name order."""
    voted = {vote.voter for vote in approval.votes}
    return sorted(electorate.voters(group=approval.group, proposers=approval.proposers) - voted)


def card_document(approval: Approval, *, electorate: Electorate) -> dict[str, Any]:
    return {"id": approval.id, **approval.document(), "may_vote": may_vote(approval, electorate=electorate)}


def show_card(approval: Approval, *, electorate: Electorate) -> None:
    """Everything that a vote binds to."""
    card = approval.card
    heading("request", approval.id)
    say("  agent", card["agent"], "wants to call", card["tool"], "with exactly these arguments:")
    say()
    say("   ", card["arguments"])
    say()
    facts(
        [
            ("class", f"{card['safety']}, egress {card['egress']}"),
            ("proposed by", ", ".join(card["proposers"]) or "the model alone"),
            ("user", card["user"]),
            ("binding", card["binding"]),
            ("account", card["account"]),
            ("session", card["session"]),
            ("granted", "; ".join(map(granted, card["grant"])) or "nothing"),
            ("key", card["idempotency_key"]),
            ("contract", card["fingerprint"]),
            ("source", card["source_digest"]),
            ("expires", card["expires_at"]),
            ("digest", approval.digest),
            ("votes", _votes(approval)),
            ("may vote", ", ".join(may_vote(approval, electorate=electorate)) or "nobody"),
        ]
    )
    table(("finding", "decision", "because"), [(r["kind"], r["decision"], spoken(r)) for r in card["reasons"]])


def _votes(approval: Approval) -> str:
    given = [f"{vote.voter} {vote.decision}" for vote in approval.votes]
    return f"{len(given)} of {approval.votes_needed}" + (f" ({', '.join(given)})" if given else "")
