"""Paths as contracts name them: relative, plain, and never climbing.

Takes: the text an author or operator wrote.  Gives: one spelling, and whether one lies beneath another.
Never: touches a file; what a path really reaches is decided by the kernel when it is opened.
"""

from __future__ import annotations

from ringfence.errors import DeclarationRefused


def relative_path(text: str) -> str:
    """The one spelling of a path below a workspace; `.` is the workspace itself."""
    problem = _problem(text)
    if problem:
        raise DeclarationRefused(f"path {text!r} {problem}", remedy="name a path relative to the agent's workspace")
    parts = [part for part in text.split("/") if part not in ("", ".")]
    return "/".join(parts) or "."


def _problem(text: str) -> str | None:
    if not text:
        return "is empty"
    if "\0" in text:
        return "has a NUL in it"
    if text.startswith("/"):
        return "is absolute"
    if ".." in text.split("/"):
        return "climbs"
    return None


def beneath(path: str, *, root: str) -> bool:
    """Whether one relative path is another or lies below it."""
    return root == "." or path == root or path.startswith(root + "/")
