"""`python -m bench peers [--json] [--only WORD] [--as root|user] [--page FILE]`: the comparison.

Takes: arguments.  Gives: a table, or JSON; with a page, the section is put there too.
Never: fails because a peer is missing or a probe works; the table says so.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from bench.peers.chosen import CHOSEN
from bench.peers.comparison import Column, compare, possible
from bench.peers.matrix import Matrix
from bench.peers.page import replaced
from bench.peers.peers import PEERS, looked_for
from bench.peers.report import Report
from ringfence.kernel import landlock
from tests.attack.row import Privilege


def measured(*, only: Sequence[str] = (), peers: Sequence[str] = (), privileges: Sequence[str] = ()) -> Report:
    """Run it; `only` keeps the probes whose name has one of these words."""
    found, absent = looked_for()
    wanted = [each for each in found if not peers or each.peer.name in peers]
    probes = [probe for probe in CHOSEN if not only or any(word in probe.name for word in only)]
    who: list[Privilege] = [privilege for privilege in possible() if not privileges or privilege in privileges]
    names = [each.peer.name for each in wanted]
    told: dict[Privilege, Mapping[str, Column]] = {each: compare(probes, peers=names, privilege=each) for each in who}
    return Report(
        matrix=Matrix(probes=probes, told=told),
        found=wanted,
        absent=absent,
        machine=machine(),
        date=datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        version=version("ringfence"),
    )


def machine() -> str:
    """What of this machine decides the outcome."""
    system = platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    groups = "version 2" if Path("/sys/fs/cgroup/cgroup.controllers").exists() else "version 1"
    return (
        f"{system}, kernel {platform.release().split('-')[0]} {platform.machine()}, Landlock ABI {landlock.version()}, "
        f"control groups {groups}, {os.cpu_count()} cores, Python {platform.python_version()}"
    )


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench peers", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON document instead of the table")
    parser.add_argument("--only", action="append", default=[], metavar="WORD", help="probes whose name has this word")
    parser.add_argument("--peer", action="append", default=[], choices=[peer.name for peer in PEERS])
    parser.add_argument("--as", action="append", default=[], choices=["root", "user"], dest="privileges")
    parser.add_argument("--page", type=Path, help="a Markdown file with the two marks, to put the section in")
    options = parser.parse_args(argv)
    report = measured(only=options.only, peers=options.peer, privileges=options.privileges)
    if options.page:
        page = options.page.read_text(encoding="utf-8")
        options.page.write_text(replaced(page, section=report.markdown()), encoding="utf-8")
    sys.stdout.write(report.json() if options.json else report.text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
