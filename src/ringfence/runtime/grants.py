"""Standing grants as an operator meets them: give, sign, list, revoke.

Takes: an operator's word and the bounds.  Gives: the grant on record.
Never: takes the word of anybody who is not an operator, or grants a tool that is not registered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, timedelta
from typing import Any

from ringfence.approvals.standing import Bounds, Ended, StandingGrant
from ringfence.audit.events import AuditEvent, event
from ringfence.errors import Misuse
from ringfence.policy.answering import NAMED_KINDS
from ringfence.registry.registry import RegisteredTool
from ringfence.runtime.case import new_id
from ringfence.runtime.operators import require_operator
from ringfence.runtime.parts import Parts
from ringfence.sanitise import clean_output, visible

_BECAUSE_BYTES = 500


class StandingGrants:
    """What operators approved in advance, shared by every process."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def list(self) -> list[StandingGrant]:
        """Every grant ever given, oldest first."""
        return [*await self._parts.store.standing_grants()]

    async def give(
        self,
        *,
        agent: str,
        tool: str,
        uses: int,
        lasting: timedelta,
        by: str,
        because: str,
        when: Mapping[str, Any] | None = None,
        answers: Iterable[str] = (),
    ) -> StandingGrant:
        """Approve calls in advance, as the operator `by`, within these bounds."""
        await require_operator(self._parts, by, wanted="grant_given")
        registered = self._registered(tool)
        now = self._parts.now().astimezone(UTC)  # spelled as it will be read back
        bounds = Bounds(
            agent=self._parts.agent(agent).name,
            tool=registered.name,
            fingerprint=registered.fingerprint,
            source_digest=registered.source_digest,
            when=dict(when or {}),
            answers=tuple(sorted({self._named(name) for name in answers})),
            max_uses=uses,
            given_at=now,
            expires_at=now + lasting,
            because=said(because),
        )
        bounds.require_bounded()
        grant = StandingGrant(id=new_id("sgr"), bounds=bounds, safety=registered.safety.value, signed_by=(by,))
        body = {"grant_id": grant.id, "digest": grant.digest, "grant": bounds.document(), "by": by}
        await self._parts.store.give(grant, events=[self._event(grant, "grant_given", body)])
        return grant

    async def sign(self, grant_id: str, *, by: str, digest: str | None = None) -> StandingGrant:
        """One more operator's signature; `digest` names what they were shown, and defaults to what is on record."""
        await require_operator(self._parts, by, wanted="grant_signed")
        grant = await self._found(grant_id)
        body = {"grant_id": grant.id, "digest": grant.digest, "by": by}
        signed = self._event(grant, "grant_signed", body)
        await self._parts.store.sign(grant.id, operator=by, digest=digest or grant.digest, events=[signed])
        return await self._found(grant_id)

    async def revoke(self, grant_id: str, *, by: str, because: str) -> StandingGrant:
        """End a grant for good; a call that it already started is not touched."""
        await require_operator(self._parts, by, wanted="grant_revoked")
        grant = await self._found(grant_id)
        ended = Ended(at=self._parts.now(), by=by, why=said(because))
        body = {"grant_id": grant.id, "digest": grant.digest, "by": by, "because": ended.why}
        await self._parts.store.revoke(grant.id, ended=ended, events=[self._event(grant, "grant_revoked", body)])
        return await self._found(grant_id)

    async def _found(self, grant_id: str) -> StandingGrant:
        found = await self._parts.store.standing_grant(grant_id)
        if found is None:
            raise Misuse(
                f"there is no standing grant `{visible(grant_id)}`", remedy="`ringfence grants list` shows them"
            )
        return found

    def _registered(self, name: str) -> RegisteredTool:
        found = self._parts.registry.tools.get(name)
        if found is None or found.quarantine:
            raise Misuse(f"there is no tool `{visible(name)}` to grant", remedy="`ringfence tools list` shows them")
        return found

    def _named(self, name: str) -> str:
        """A reason as a grant names it: a kind, or the digest of a rule given by its id or by itself."""
        known = self._parts.rulings.rule_digests
        if name in known:
            return known[name]
        if name in known.values() or name in NAMED_KINDS or name.startswith("sha256:"):
            return name
        listed = ", ".join(f"`{each}`" for each in (*NAMED_KINDS, *known))
        raise Misuse(f"`{visible(name)}` names no reason", remedy=f"name one of {listed}, or the digest of a reason")

    def _event(self, grant: StandingGrant, kind: str, body: dict[str, Any]) -> AuditEvent:
        bounds = grant.bounds
        return event(kind, at=self._parts.now(), body=body, agent=bounds.agent, tool=bounds.tool, safety=grant.safety)


def said(because: str) -> str:
    """A person's reason as one clean line."""
    line = " ".join(clean_output(because, limit=_BECAUSE_BYTES).text.split())
    if not line:
        raise Misuse("say why, for whoever reads the trail")
    return line
