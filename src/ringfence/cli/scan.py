"""`ringfence scan`: what is hidden or dangerous in a description, a tool list or any text.

Takes: a file, or `-` for standard input.  Gives: exit 0 nothing found, 1 threats, 6 trifles only.
Never: starts a server, fetches anything, or shows an unseen character as it is.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ringfence.cli.ending import COMPLETED, PROBLEMS, WARNINGS
from ringfence.cli.options import json_option
from ringfence.cli.printing import counted, decided, emit_json, table
from ringfence.cli.sarif import sarif
from ringfence.cli.scanning import LARGEST, Scanned, Spot, scanned
from ringfence.errors import Misuse
from ringfence.sanitise import Severity

_MOST_DRAWN = 200


@click.command("scan")
@click.argument("source", metavar="FILE|-")
@json_option
@click.option("--sarif", "as_sarif", is_flag=True, help="Print SARIF 2.1.0, for code hosts and editors.")
def command(source: str, as_json: bool, as_sarif: bool) -> int:
    """Look for injected, hidden and dangerous text in FILE: an MCP server's answer to `tools/list`, or any text.

    Exit 0 nothing found, 1 threats, 6 trifles only.
    """
    if as_json and as_sarif:
        raise Misuse("`--json` and `--sarif` are two forms of one answer", remedy="choose one of them")
    found = scanned(_content(source), source="stdin" if source == "-" else source)
    if as_sarif:
        emit_json(sarif(found))
    elif as_json:
        spots = [spot.document() for spot in found.spots]
        emit_json({"source": found.source, "shape": found.shape, "tools": found.tools, "findings": spots})
    else:
        _draw(found)
    return _exit_code(found)


def _content(source: str) -> bytes:
    content = sys.stdin.buffer.read(LARGEST + 1) if source == "-" else _file(Path(source))
    if len(content) > LARGEST:
        raise Misuse(f"`{source}` is larger than {LARGEST >> 20} MiB", remedy="scan it in parts")
    return content


def _file(path: Path) -> bytes:
    if not path.is_file():
        raise Misuse(
            f"`{path}` is no file, and a live server cannot be asked yet",
            remedy="write its answer to `tools/list` into a file with any MCP client, and scan that",
        )
    try:
        with path.open("rb") as file:
            return file.read(LARGEST + 1)
    except OSError as error:
        raise Misuse(f"`{path}` cannot be read: {(error.strerror or 'unknown').lower()}", remedy="check it") from None


def _exit_code(found: Scanned) -> int:
    if found.worst is None:
        return COMPLETED
    return PROBLEMS if found.worst >= Severity.MEDIUM else WARNINGS


def _draw(found: Scanned) -> None:
    drawn = sorted(found.spots, key=lambda spot: -spot.severity)[:_MOST_DRAWN]
    if drawn:
        table(("severity", "kind", "where", "about", "text"), (_row(spot, found) for spot in drawn))
    what = counted(found.tools, "tool") if found.shape == "tools" else "text"
    rest = f"; the worst {_MOST_DRAWN} are shown" if len(found.spots) > _MOST_DRAWN else ""
    word = "ok:" if found.worst is None or found.worst < Severity.MEDIUM else "problem:"
    decided(word, f"{found.source}: {what}, {counted(len(found.spots), 'finding')}{rest}")


def _row(spot: Spot, found: Scanned) -> tuple[str, str, str, str, str]:
    where = spot.where if found.shape == "tools" else f"{spot.line}:{spot.column}"
    return spot.severity.name.lower(), spot.kind, where, spot.detail, spot.excerpt
