"""Files on this machine that the config puts in the wrong hands: readable by others, or within an agent's own reach.

Takes: values that have their shape, and the folder of the file.  Gives: errors and warnings.
Never: opens a file; it looks at names and permission bits.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from ringfence.assembly.config.cross import section, usable
from ringfence.assembly.config.folders import RAW_KEY, from_root, store_file, workspace
from ringfence.assembly.config.plain import INVALID
from ringfence.assembly.config.problems import KeyPath, Report, spell

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def check_exposure(values: Mapping[str, Any], *, root: Path, file: Path | None, report: Report) -> None:
    """Whether secrets, keys and state stay out of reach of other people and of every agent."""
    private = dict(_private_files(values, root=root))
    for path, place in private.items():
        _require_private(place, path=path, report=report)
    if section(section(values, "store"), "url") == {}:
        return
    private[("store", "url")] = store_file(values, root=root)
    if signing_key := private.get(("audit", "signing_key")):
        private[(RAW_KEY,)] = signing_key.with_name(RAW_KEY)
    _require_separate_workspaces(values, root=root, report=report)
    guarded = private if file is None else {**private, (): file}
    for name, agent in usable(section(values, "agents")):
        if agent.get("workspace") is not INVALID:
            _require_out_of_reach(name, values, root=root, guarded=guarded, report=report)


def _private_files(values: Mapping[str, Any], *, root: Path) -> Iterator[tuple[KeyPath, Path]]:
    for name, secret in usable(section(values, "secrets")):
        if isinstance(file := secret.get("file"), str):
            yield ("secrets", name, "file"), from_root(file, root=root)
        if isinstance(folder := secret.get("directory"), str):
            yield ("secrets", name, "directory"), from_root(folder, root=root) / name
    for name, file in usable(section(values, "audit")):
        yield ("audit", name), from_root(file, root=root)


def _require_private(file: Path, *, path: KeyPath, report: Report) -> None:
    try:
        mode = file.stat().st_mode
    except OSError as error:
        if path[0] == "secrets":
            reason = f"the file cannot be looked at ({error.strerror}), so tools that need the secret are not available"
            report.warn(path, reason)
        return
    if path != ("audit", "anchor") and mode & _OTHERS:
        report.error(path, "the file is open to others than its owner", remedy="`chmod 600` it")


def _require_separate_workspaces(values: Mapping[str, Any], *, root: Path, report: Report) -> None:
    folders = sorted(
        (workspace(name, values, root=root).parts, name)
        for name, agent in usable(section(values, "agents"))
        if agent.get("workspace") is not INVALID
    )
    # INVARIANT: sorted by parts, a folder stands directly before the first of those it contains.
    for (outer, one), (inner, other) in pairwise(folders):
        if inner[: len(outer)] == outer:
            message = f"the workspace of `{one}` holds that of `{other}`, and agents share no files"
            shown_at = one if report.places.written(("agents", one, "workspace")) else other
            report.error(("agents", shown_at, "workspace"), message, remedy="give each agent a folder of its own")


def _require_out_of_reach(
    name: str, values: Mapping[str, Any], *, root: Path, guarded: Mapping[KeyPath, Path], report: Report
) -> None:
    home = workspace(name, values, root=root)
    for kind in ("read", "write"):
        for at, permitted in usable(section(section(values["agents"][name], "files"), kind)):
            reach = from_root(permitted, root=home)
            for path, file in guarded.items():
                if file.is_relative_to(reach):
                    what = f"the file of `{spell(path)}`" if path else "this config file"
                    report.error(("agents", name, "files", kind, at), f"reaches {what}", remedy="name a narrower path")
