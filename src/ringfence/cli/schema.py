"""`ringfence schema`: the config file's shape, for editors.

Takes: nothing.  Gives: a JSON Schema.  Never: says anything that the loader does not enforce.
"""

from __future__ import annotations

import click

from ringfence.assembly.config import config_schema
from ringfence.cli.ending import COMPLETED
from ringfence.cli.printing import emit_json


@click.command("schema")
def command() -> int:
    """Print the JSON Schema of ringfence.yaml."""
    emit_json(config_schema())
    return COMPLETED
