"""`ringfence audit prune`: an operator lets the bodies of old calls go; the chain stays whole.

Takes: an operator, and `audit.retention` in the config.  Gives: how many bodies went.
Never: removes an event, or a body younger than the config says.
"""

from __future__ import annotations

import click

from ringfence.cli.ending import COMPLETED
from ringfence.cli.opening import chosen_config, records_only, with_runtime
from ringfence.cli.options import config_option, json_option, login_name, person_option
from ringfence.cli.printing import decided, emit_json
from ringfence.runtime import Runtime
from ringfence.runtime.audit import Removed


@click.command("prune")
@click.option("--dry-run", is_flag=True, help="Only say how many bodies would go.")
@person_option
@json_option
@config_option
def prune(dry_run: bool, person: str | None, as_json: bool) -> int:
    """Let the bodies of calls older than `audit.retention` go, as an operator. The trail still verifies."""
    config = records_only(chosen_config())
    if dry_run:
        return _would(with_runtime(_count, config=config), as_json=as_json)

    async def work(runtime: Runtime) -> Removed:
        return await runtime.audit.remove_bodies(by=person or login_name())

    removed = with_runtime(work, config=config)
    if as_json:
        emit_json({"removed": removed.bodies, "before": removed.before.isoformat()})
    else:
        decided("ok:", f"bodies let go: {removed.bodies}, of calls before {removed.before:%Y-%m-%d %H:%M} UTC")
    return COMPLETED


async def _count(runtime: Runtime) -> int:
    return await runtime.audit.removable()


def _would(count: int, *, as_json: bool) -> int:
    if as_json:
        emit_json({"removable": count})
    else:
        decided("ok:", f"bodies that would go: {count}")
    return COMPLETED
