"""An answer to a request of `ctx.http`, in the shape that httpx users know.

Takes: what the edge passed on.  Gives: status, headers, body.  Never: makes a request.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ringfence.errors import CallFailed

_ERRORS = 400


class Headers(Mapping[str, str]):
    """Headers by name, in whatever case; several of one name are joined by commas."""

    def __init__(self, pairs: Sequence[Sequence[str]]) -> None:
        self._pairs = [(name, value) for name, value in pairs]

    def __getitem__(self, name: str) -> str:
        found = self.get_list(name)
        if not found:
            raise KeyError(name)
        return ", ".join(found)

    def get_list(self, name: str) -> list[str]:
        return [value for found, value in self._pairs if found.lower() == name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name.lower() for name, _ in self._pairs))

    def __len__(self) -> int:
        return len({name.lower() for name, _ in self._pairs})


class Response:
    """One answer; its body is there unless it is being streamed."""

    def __init__(self, head: Mapping[str, Any], *, content: bytes = b"") -> None:
        self.status_code = int(head["status"])
        self.reason_phrase = str(head["reason"])
        self.headers = Headers(head["headers"])
        self.url = str(head["url"])
        self.content = content

    @property
    def text(self) -> str:
        _, _, charset = self.headers.get("content-type", "").partition("charset=")
        try:
            return self.content.decode(charset.strip("\"' ") or "utf-8", errors="replace")
        except LookupError:
            return self.content.decode(errors="replace")

    def json(self) -> Any:
        return json.loads(self.content)

    @property
    def is_success(self) -> bool:
        return 200 <= self.status_code < 300

    @property
    def is_error(self) -> bool:
        return self.status_code >= _ERRORS

    def raise_for_status(self) -> Response:
        """The answer itself, or an error where the far side says that something went wrong."""
        if self.is_error:
            raise CallFailed(f"{self.url} answered {self.status_code} {self.reason_phrase}")
        return self


def require_answer(head: Mapping[str, Any]) -> Mapping[str, Any]:
    """The head of an answer; a fault of the edge is raised."""
    fault = head.get("fault")
    if fault is not None:
        raise CallFailed(str(fault["message"]), code=str(fault["code"]))
    return head
