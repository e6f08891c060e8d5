"""The one gate for what only operators may do, with every attempt at it on record.

Takes: a name.  Gives: nothing, if it is an operator's.  Never: lets an attempt pass unseen.
"""

from __future__ import annotations

from ringfence.audit.events import event
from ringfence.errors import OperatorRequired
from ringfence.runtime.parts import Parts
from ringfence.sanitise import visible


async def require_operator(parts: Parts, name: str, *, wanted: str) -> None:
    """Refuse anybody without the role; `wanted` says in the trail what they tried."""
    try:
        parts.rulings.electorate.require_operator(name)
    except OperatorRequired:
        detail = {"wanted": wanted, "by": visible(name)}
        refused = event("security_event", at=parts.now(), body={"what": "operator_required", "detail": detail})
        await parts.store.append([refused])
        raise
