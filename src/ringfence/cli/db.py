"""`ringfence db`: the schema of the store, and the roles of a PostgreSQL one.

Takes: a login where one is needed.  Gives: how the store stands.  Never: makes a role; a person runs what it prints.
"""

from __future__ import annotations

import os

import click

from ringfence.assembly.assemble import utc_now
from ringfence.assembly.schemas import Schema, bring_forward, role_sql, schema_of
from ringfence.cli.ending import COMPLETED, PROBLEMS
from ringfence.cli.opening import chosen_config
from ringfence.cli.options import config_option, json_option
from ringfence.cli.printing import emit_json, facts, say

OWNER_URL = "RINGFENCE_OWNER_URL"
_URL_HELP = f"A login that has the role `ringfence_owner`; also {OWNER_URL}. [default: `store.url`]"


@click.group("db")
def command() -> None:
    """Show and bring forward the store's schema; print the roles of a PostgreSQL store."""


@command.command("migrate")
@click.option("--url", metavar="URL", help=_URL_HELP)
@json_option
@config_option
def migrate(url: str | None, as_json: bool) -> int:
    """Bring the store to the schema that this version knows. Schemas only move forward."""
    return _show(bring_forward(chosen_config(), now=utc_now, url=url or os.environ.get(OWNER_URL)), as_json=as_json)


@command.command("status")
@click.option("--url", metavar="URL", help=_URL_HELP)
@json_option
@config_option
def status(url: str | None, as_json: bool) -> int:
    """Show which schema the store has. Exit code 1 where it is not the one this version knows."""
    return _show(schema_of(chosen_config(), url=url or os.environ.get(OWNER_URL)), as_json=as_json)


@command.command("role-sql")
@json_option
def roles(as_json: bool) -> int:
    """Print the statements that make the four roles, for somebody who may create roles."""
    if as_json:
        emit_json({"sql": role_sql()})
    else:
        # As it is: it is ours, and it goes into `psql`.
        click.echo(role_sql(), nl=False)
    return COMPLETED


def _show(schema: Schema, *, as_json: bool) -> int:
    if as_json:
        known = {"store": schema.store, "version": schema.version, "known": schema.known}
        emit_json({**known, "current": schema.is_current})
    else:
        facts([("store", schema.store), ("schema", schema.version), ("this version knows", schema.known)])
        if not schema.is_current:
            say("`ringfence db migrate` brings it forward" if schema.version < schema.known else "use a newer version")
    return COMPLETED if schema.is_current else PROBLEMS
