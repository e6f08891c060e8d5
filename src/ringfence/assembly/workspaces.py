"""A folder for each agent, made for its owner alone, and no two of them one inside the other.

Takes: a config.  Gives: folders on disk.
Never: opens a runtime in which one agent's files lie within another's, by whatever link.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from ringfence.assembly.config import Config
from ringfence.errors import ConfigInvalid

_OWNER_ONLY = 0o700


def make_workspaces(config: Config) -> None:
    """Every agent's folder exists; one that was not there is open to its owner alone."""
    made = {name: _made(name, config=config) for name in config.agents}
    folders = sorted((folder.parts, name) for name, folder in made.items())
    # INVARIANT: sorted by parts, a folder stands directly before the first of those it contains.
    for (outer, one), (inner, other) in pairwise(folders):
        if inner[: len(outer)] == outer:
            place = config.locate(("agents", other, "workspace"))
            raise ConfigInvalid((f"{place}: through a link, the workspace of `{one}` holds that of `{other}`",))


def _made(name: str, *, config: Config) -> Path:
    """The folder as the kernel knows it, with every link followed."""
    folder = Path(config.agents[name].workspace)
    try:
        for missing in reversed([each for each in (folder, *folder.parents) if not each.exists()]):
            missing.mkdir(mode=_OWNER_ONLY, exist_ok=True)
        if not folder.is_dir():
            raise NotADirectoryError(0, "it is not a folder")
        return folder.resolve(strict=True)
    except OSError as error:
        place = config.locate(("agents", name, "workspace"))
        raise ConfigInvalid(
            (f"{place}: the workspace cannot be made: {(error.strerror or 'unknown').lower()}",)
        ) from None
