"""What a tool's context holds: one client for each kind of need that was granted, in the tool's own style.

Takes: a layout, and whether the tool is a plain function or a coroutine.  Gives: clients by name.
Never: gives one for a need that was not granted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from ringfence.inside.file_client import AwaitedFiles, Files
from ringfence.inside.layout import WORKSPACE, Layout

Style: TypeAlias = Literal["blocking", "awaited"]


def clients_for(layout: Layout, *, style: Style) -> Mapping[str, Any]:
    """The clients of one call."""
    return {kind: _MAKERS[kind](layout, style) for kind in layout.clients if kind in _MAKERS}


def _files(layout: Layout, style: Style) -> Files | AwaitedFiles:
    kind = Files if style == "blocking" else AwaitedFiles
    return kind(WORKSPACE, granted=[each.path for each in layout.granted])


_MAKERS: Mapping[str, Callable[[Layout, Style], object]] = {"files": _files}
