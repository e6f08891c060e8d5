"""What a person sees: lines and tables in which nothing foreign can act on a terminal or on the layout.

Takes: texts from anywhere.  Gives: output on stdout.
Never: lets markup, an escape or a hidden character of a foreign text have an effect.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ringfence.sanitise import visible

_PIPE_WIDTH = 140
_STYLES = {
    "allow": "green",
    "approve": "yellow",
    "approve_twice": "yellow",
    "deny": "red",
    "ok": "bold green",
    "problem": "bold red",
    "completed": "bold green",
    "waiting": "bold yellow",
    "refused": "bold red",
    "failed": "bold red",
    "approved": "bold green",
    "pending": "bold yellow",
    "rejected": "bold red",
}


def say(*words: object, style: str = "") -> None:
    """One line, however long; every word is spelled out where it cannot be printed."""
    _console().print(Text(" ".join(visible(str(word)) for word in words), style=style), soft_wrap=True)


def say_block(text: str) -> None:
    """A text of several lines."""
    for line in text.split("\n"):
        say(line)


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def heading(*words: object) -> None:
    say()
    say(*words, style="bold")


def decided(word: str, *rest: object) -> None:
    """A line that begins with a decision or an outcome, in its colour; further lines go below it."""
    first, *more = " ".join(str(part) for part in rest if part).split("\n")
    line = Text(visible(word), style=_STYLES.get(word.rstrip(":"), "bold"))
    _console().print(line.append(f" {visible(first)}", style="default"), soft_wrap=True)
    for below in more:
        say(f"  {below}")


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Rows under headings; a cell that is too wide goes on below, nothing is cut."""
    drawn = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        drawn.add_column(column, overflow="fold")
    for row in rows:
        drawn.add_row(*(_cell(value) for value in row))
    _console().print(drawn)


def facts(rows: Iterable[tuple[str, object]]) -> None:
    """A name and a value per line."""
    listed = [(name, value) for name, value in rows if value not in (None, "", (), [])]
    width = max((len(name) for name, _ in listed), default=0)
    for name, value in listed:
        say(f"  {name:<{width}}  {value}")


def emit_json(document: Any) -> None:
    """JSON in plain ASCII: lossless, and harmless to a terminal."""
    sys.stdout.write(json.dumps(document, indent=2) + "\n")


def emit_line(document: Any) -> None:
    """One line of JSONL, at once: somebody may be following."""
    sys.stdout.write(json.dumps(document) + "\n")
    sys.stdout.flush()


def _cell(value: object) -> Text:
    text = visible("-" if value in (None, "") else str(value))
    return Text(text, style=_STYLES.get(text, ""))


def _console() -> Console:
    piped = not sys.stdout.isatty() and not os.environ.get("COLUMNS")
    return Console(highlight=False, markup=False, emoji=False, width=_PIPE_WIDTH if piped else None)
