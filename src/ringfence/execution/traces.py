"""Whether the host saw that a call changed nothing: no request byte left the edge, nothing granted was written.

Takes: what the call was granted, and what was measured.  Gives: whether nothing is shown to have happened.
Never: takes what was not measured, or only partly, for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ringfence.contract.capabilities import Capability, Files, Kind
from ringfence.execution.sandbox import Effects
from ringfence.policy.grant import Grant


def left_nothing(grant: Grant, effects: Effects | None) -> bool:
    """Whether every grant that could change something is measured, and shows that nothing was changed."""
    measured: dict[str, Any] = {} if effects is None else effects.document()
    return all(_UNTOUCHED[need.kind](need, measured.get(need.kind)) for need in grant.capabilities)


def _no_byte_out(_need: Capability, network: dict[str, Any] | None) -> bool:
    """Opaque bytes count like any others; a connection over which nothing was sent asked for nothing."""
    if network is None:
        return False
    lines: list[dict[str, Any]] = network.get("hosts", [])
    return all(_is_zero(count.get("bytes_out")) for count in (network, *lines))


def _nothing_written(need: Capability, files: dict[str, Any] | None) -> bool:
    only_reads = isinstance(need, Files) and not need.write
    return only_reads or files == {"written": [], "removed": [], "coverage": "whole"}


def _no_row_written(_need: Capability, storage: dict[str, Any] | None) -> bool:
    return storage is not None and _is_zero(storage.get("writes"))


def _inside_the_jail(_need: Capability, _measured: dict[str, Any] | None) -> bool:
    return True


def _is_zero(count: object) -> bool:
    return type(count) is int and count == 0


# How each kind of need is shown to have changed nothing, and why that is enough.
_UNTOUCHED: Mapping[Kind, Callable[[Capability, dict[str, Any] | None], bool]] = {
    "network": _no_byte_out,  # every byte goes through the edge, which counts it before it is sent
    "files": _nothing_written,  # the granted folders were looked at before and after, whole
    "storage": _no_row_written,  # rows are written by the host, which counts them
    "secrets": _inside_the_jail,  # what is done with one leaves by the network alone
    "processes": _inside_the_jail,  # a program has the tool's own walls, and is judged by what leaves them
}
