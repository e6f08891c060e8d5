"""The command line: every command is a thin call into the assembly, and every error is a line a person can act on.

Takes: words typed by a person or a script.  Gives: text, or JSON with `--json`, and an exit code.
Never: decides anything, and never shows a traceback.
"""

from __future__ import annotations

from ringfence.cli.front import main

__all__ = ["main"]
