"""What the store does for one governed call: the look at the ledger, the start and the end, with their four events.

Takes: a store and an id.  Gives: the call on record.  Never: skips what the pipeline would have written.
"""

from __future__ import annotations

from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ringfence.assembly.assemble import utc_now
from ringfence.audit.events import KINDS, AuditEvent, event
from ringfence.runtime.invocation import KEY_LIFETIME
from ringfence.store.engine import Durability
from ringfence.store.kept import KeptStore
from ringfence.testing.store_samples import allowed, call, ended, look

SIGNING_KEY = Ed25519PrivateKey.from_private_bytes(b"b" * 32)
_SAID: dict[str, Any] = {"arguments": '{"x":1}', "fingerprint": look.fingerprint, "reasons": [{"kind": "class"}] * 3}


def told(kind: str, id_: str) -> AuditEvent:
    """An event of about the size that the pipeline writes."""
    body = {field: _SAID.get(field, "sha256:" + "0" * 64) for field in KINDS[kind].fields}
    return event(kind, at=utc_now(), body=body, agent="ana", tool="look", safety="read", invocation_id=id_)


async def governed(store: KeptStore, id_: str, *, durability: Durability) -> None:
    await store.ledger_version()
    one = call(id_)
    before = [told(kind, id_) for kind in ("tool_proposed", "policy_decision", "tool_started")]
    key_for = None if durability == "normal" else KEY_LIFETIME
    await store.start(one, warrant=allowed(one), durability=durability, events=before, key_for=key_for)
    await store.finish(id_, ending=ended(), durability=durability, events=[told("tool_completed", id_)])
