"""The tools that the conformance suite calls, in a module that a jail can import."""

from __future__ import annotations

from ringfence import tool


@tool(safety="read")
def suite_echo(text: str) -> str:
    """Say the same again."""
    return text


@tool(safety="read")
def suite_raise(text: str) -> str:
    """Raise what the text says."""
    raise ValueError(text)
