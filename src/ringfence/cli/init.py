"""`ringfence init`: a working project in a folder, small or with everything.

Takes: a folder and a template.  Gives: its files, and the fingerprint to keep elsewhere.  Never: overwrites anything.
"""

from __future__ import annotations

from pathlib import Path

import click

from ringfence.cli.ending import COMPLETED
from ringfence.cli.printing import decided, facts, heading, say
from ringfence.cli.project import FULL, SMALL, make_project

_TEMPLATES = "`shop` is small; `desk` has channels, recipients, a profile, workspaces and a standing grant to give."
_ABOUT = {
    "ringfence.yaml": "who acts, who approves, what each may reach",
    "README.md": "the commands you need first",
    ".gitignore": "keeps state out of version control",
    "state/": "for your eyes only: calls, approvals, trail, signing key",
}
_TOOLS = {SMALL: "six example tools", FULL: "four tools of a help desk, beside the ready ones"}
_FIRST = (
    "ringfence doctor                     what this machine can enforce",
    "ringfence check --accept --as bob    read the tools in a jail and accept them",
    "ringfence status                     what each agent can use, and why not the rest",
)
_SERVER = (
    "ringfence db role-sql | psql ...     once, as somebody who may create roles",
    "ringfence db migrate --url ...       as a login that has `ringfence_owner`",
)
_NEXT = {
    SMALL: ("""ringfence call ana greet '{"name": "Ada"}'""",),
    FULL: ("""ringfence call ana find_order '{"order": "A-1001"}' --binding web:shop""",),
}


@click.command("init")
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@click.option("--template", "kind", type=click.Choice((SMALL, FULL)), default=SMALL, help=_TEMPLATES)
@click.option("--store", "store", metavar="URL", help="Where state is kept. [default: a file of SQLite in DIR]")
def command(folder: Path, kind: str, store: str | None) -> int:
    """Write a small working project into DIR (default: here). Nothing is overwritten."""
    project = make_project(folder, kind=kind, store=store)
    decided("ok:", "a project in", str(project.folder))
    facts((name, {**_ABOUT, "tools.py": _TOOLS[kind]}[name]) for name in project.files)
    heading("the key that signs the audit trail")
    say(f"  {project.fingerprint}")
    say("  Keep this fingerprint somewhere else: `ringfence audit verify --key` proves the trail against it.")
    heading("next")
    if str(folder) != ".":
        say("  cd", str(folder))
    for step in (*(_SERVER if project.on_server else ()), *_FIRST, *_NEXT[kind]):
        say(f"  {step}")
    return COMPLETED
