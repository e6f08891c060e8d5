"""Tools that are folders: a `TOOL.md` and a program in any language, read as bytes and kept by their digest.

Takes: folders that a config names.  Gives: contracts with their kept sources.  Never: runs what it reads, or follows a
link.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ringfence.assembly.config.document import read_yaml
from ringfence.assembly.config.plain import is_mapping
from ringfence.errors import ConfigInvalid, DeclarationRefused
from ringfence.importers.toolmd import FILE, ToolFolder, read_tool, split
from ringfence.registry.pins import Offered
from ringfence.registry.registry import FOLDER
from ringfence.sandbox.snapshot import ENTRY, Snapshots, Source, read_tool_folder

_MOST_BYTES = 262_144


@dataclass(frozen=True, kw_only=True)
class Found:
    """One tool folder: its contract, the program in it, and all its files."""

    declared: ToolFolder
    source: Source

    def offered(self, *, snapshots: Snapshots, accepted_by: str | None) -> Offered:
        return Offered(
            tool=self.declared.tool,
            source=f"{FOLDER}{self.declared.tool.name}",
            source_digest=snapshots.keep(self.source).digest,
            accepted_by=accepted_by,
            acceptance="review",
        )


def find_folders(folders: Sequence[Path]) -> list[Found]:
    """Every tool in these folders: each is one, or holds some."""
    return [_read(place) for folder in folders for place in _tool_folders(folder)]


def _tool_folders(folder: Path) -> Iterator[Path]:
    if (folder / FILE).is_file():
        yield folder
        return
    inner = sorted(folder.iterdir()) if folder.is_dir() else []
    found = [each for each in inner if (each / FILE).is_file() and not each.is_symlink()]
    if not found:
        message = f"folder `{folder}` holds no `{FILE}`, nor does a folder in it"
        raise DeclarationRefused(message, remedy="name a folder of tools under `tools.folders`")
    yield from found


def _read(folder: Path) -> Found:
    files = read_tool_folder(folder)
    try:
        declared = _declared(files[FILE], file=folder / FILE)
    except DeclarationRefused as refused:
        raise DeclarationRefused(f"tool folder `{folder}`: {refused.message}", remedy=refused.remedy) from None
    if declared.entrypoint not in files:
        raise DeclarationRefused(f"tool folder `{folder}`: entrypoint `{declared.entrypoint}` is not in it")
    return Found(declared=declared, source=Source(module=ENTRY + declared.entrypoint, files=files))


def _declared(content: bytes, *, file: Path) -> ToolFolder:
    if len(content) > _MOST_BYTES:
        raise DeclarationRefused(f"`{FILE}` is longer than {_MOST_BYTES} bytes")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise DeclarationRefused(f"`{FILE}` is not UTF-8") from None
    front_matter, body = split(text)
    value, report = read_yaml(front_matter, file=str(file))
    try:
        report.require_clean()
    except ConfigInvalid as invalid:
        raise DeclarationRefused(f"the front matter is not plain YAML: {invalid.problems[0]}") from None
    if not is_mapping(value):
        raise DeclarationRefused("the front matter is not a mapping")
    plain: dict[str, Any] = dict(value)
    return read_tool(plain, body=body)
