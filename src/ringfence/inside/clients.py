"""What a tool's context holds: one client for each kind of need that was granted, in the tool's own style.

Takes: a layout, and whether the tool is a plain function or a coroutine.  Gives: clients by name.
Never: gives one for a need that was not granted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from ringfence.inside.file_client import AwaitedFiles, Files
from ringfence.inside.http import AwaitedHttp, BlockingHttp
from ringfence.inside.layout import Layout
from ringfence.inside.process_client import AwaitedProcesses, Processes

Style: TypeAlias = Literal["blocking", "awaited"]


def clients_for(layout: Layout, *, style: Style) -> Mapping[str, Any]:
    """The clients of one call."""
    made = ((_NAMES.get(kind, kind), _MAKERS[kind]) for kind in layout.clients if kind in _MAKERS)
    return {name: maker(layout, style) for name, maker in made}


def _files(layout: Layout, style: Style) -> Files | AwaitedFiles:
    kind = Files if style == "blocking" else AwaitedFiles
    # Without namespaces there is no other name for a granted folder than its own.
    places = [each.path if layout.posture == "full" else each.source for each in layout.granted]
    return kind(layout.workspace, granted=places)


def _http(_layout: Layout, style: Style) -> BlockingHttp | AwaitedHttp:
    return BlockingHttp() if style == "blocking" else AwaitedHttp()


def _processes(layout: Layout, style: Style) -> Processes | AwaitedProcesses:
    return (Processes if style == "blocking" else AwaitedProcesses)(layout.programs)


_MAKERS: Mapping[str, Callable[[Layout, Style], object]] = {
    "files": _files,
    "network": _http,
    "processes": _processes,
}
# Where a client is not called by the kind of its need.
_NAMES: Mapping[str, str] = {"network": "http"}
