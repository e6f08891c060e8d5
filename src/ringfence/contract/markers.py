"""What an author says about one argument: that it names a recipient, or that it is a sensitive place.

Takes: nothing.  Gives: annotations that become part of the input schema, so they are hashed and shown with it.
Never: checks a value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ringfence.errors import DeclarationRefused

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic_core import CoreSchema

RECIPIENT_KEYWORD = "x-recipient"
SINK_KEYWORD = "x-sink"
_CHANNEL = re.compile(r"[a-z][a-z0-9_-]{0,63}")


@dataclass(frozen=True)
class Recipient:
    """The argument is one address of a channel; the agent's `outbound_allowlist` decides about it."""

    channel: str

    def __post_init__(self) -> None:
        if not _CHANNEL.fullmatch(self.channel):
            raise DeclarationRefused(
                f"`Recipient({self.channel!r})` names no channel", remedy='name it like `Recipient("email")`'
            )

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(core), RECIPIENT_KEYWORD: self.channel}


@dataclass(frozen=True)
class Sink:
    """The argument decides where something goes; a value that stems from untrusted content needs approval."""

    kind: str = "sink"
    keyword: ClassVar[str] = SINK_KEYWORD

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(core), SINK_KEYWORD: self.kind}
