"""`ringfence init`: a small working project in a folder.

Takes: a folder.  Gives: its files, and the fingerprint to keep elsewhere.  Never: overwrites anything.
"""

from __future__ import annotations

from pathlib import Path

import click

from ringfence.cli.ending import COMPLETED
from ringfence.cli.printing import decided, facts, heading, say
from ringfence.cli.project import make_project


@click.command("init")
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
def command(folder: Path) -> int:
    """Write a small working project into DIR (default: here). Nothing is overwritten."""
    project = make_project(folder)
    decided("ok:", "a project in", str(project.folder))
    facts((name, _ABOUT[name]) for name in project.files)
    heading("the key that signs the audit trail")
    say(f"  {project.fingerprint}")
    say("  Keep this fingerprint somewhere else: `ringfence audit verify --key` proves the trail against it.")
    heading("next")
    if str(folder) != ".":
        say("  cd", str(folder))
    for step in _NEXT:
        say(f"  {step}")
    return COMPLETED


_ABOUT = {
    "ringfence.yaml": "who acts, who approves, what each may reach",
    "tools.py": "six example tools",
    "README.md": "the commands you need first",
    ".gitignore": "keeps state out of version control",
    "state/": "for your eyes only: calls, approvals, trail, signing key",
}
_NEXT = (
    "ringfence doctor                     what this machine can enforce",
    "ringfence check --accept --as bob    read the tools in a jail and accept them",
    "ringfence status                     what each agent can use, and why not the rest",
    """ringfence call ana greet '{"name": "Ada"}'""",
)
