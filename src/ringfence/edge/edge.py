"""The network edge of one host: an authority per jail, a passage per call.

Takes: jobs with their warrants, sockets of their jails.  Gives: passages.
Never: opens one for a call without its own warrant, or for write egress that nobody approved.
"""

from __future__ import annotations

import os
from weakref import WeakKeyDictionary

from ringfence.contract.safety import Egress
from ringfence.edge.authority import Authority
from ringfence.edge.outside import Outside
from ringfence.edge.passage import CallPassage
from ringfence.edge.terms import Bounds, Terms
from ringfence.errors import CallRefused
from ringfence.execution.edge import Passage, Trust, WaysOut, network_of, require_warrant, way_of
from ringfence.execution.sandbox import Job
from ringfence.policy.grant import Grant, Way


class NetworkEdge:
    """Every connection of every call is made here."""

    def __init__(self, *, outside: Outside | None = None, bounds: Bounds | None = None) -> None:
        self._outside = outside or Outside()
        self._bounds = bounds or Bounds()
        self._authorities: WeakKeyDictionary[Trust, Authority] = WeakKeyDictionary()

    def trust(self, grant: Grant, *, way: Way) -> Trust:
        """A fresh authority where TLS is read; else the jail needs none, for nobody speaks in another's name."""
        network = network_of(grant)
        if network is None:
            raise CallRefused("a jail without a network need trusts nobody", code="not_available")
        if way != "inspected":
            return Trust(roots="")
        authority = Authority(network)
        trust = Trust(roots=authority.pem)
        self._authorities[trust] = authority
        return trust

    def open(self, job: Job, *, trust: Trust, ways: WaysOut) -> Passage:
        try:
            terms = self._terms(job)
        except BaseException:
            for descriptor in ways.descriptors:
                os.close(descriptor)
            raise
        return CallPassage(terms, ways=ways, authority=self._authorities.get(trust), outside=self._outside)

    async def close(self) -> None:
        self._authorities.clear()
        self._outside.pipes.close()

    def _terms(self, job: Job) -> Terms:
        require_warrant(job)
        network = network_of(job.grant)
        if network is None or job.egress is Egress.NONE:
            raise CallRefused("a call without a network need gets no way out", code="host_not_allowed")
        return Terms(
            network=network,
            egress=job.egress,
            way=way_of(job),
            idempotency_key=job.idempotency_key,
            bounds=self._bounds,
            placements=job.placements,
        )
