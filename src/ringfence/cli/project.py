"""Writes a small working project: a config, tools, and the state folder with its two keys.

Takes: a folder.  Gives: what was made.  Never: overwrites a file.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from ringfence.assembly import load_config
from ringfence.assembly.config.store_urls import is_postgres
from ringfence.assembly.raw_key import make_raw_key
from ringfence.assembly.signing import make_signing_key
from ringfence.audit.checkpoint import key_fingerprint
from ringfence.errors import Misuse
from ringfence.sanitise import visible

CONFIG = "ringfence.yaml"
SMALL, FULL = "shop", "desk"
_FILES = (CONFIG, "tools.py", "README.md", ".gitignore")
_STATE = "state"
_DEFAULT_STORE = "sqlite:///state/ringfence.db"


@dataclass(frozen=True, kw_only=True)
class Project:
    """What was made, and the name of the key that will sign its trail."""

    folder: Path
    files: tuple[str, ...]
    fingerprint: str
    on_server: bool


def make_project(folder: Path, *, kind: str = SMALL, store: str | None = None) -> Project:
    """A project of this kind that works at once, in a folder that has none yet."""
    _require_room(folder)
    _require_store(store)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in _FILES:
            text = template("gitignore" if name == ".gitignore" else f"{kind}/{name}")
            write_new(folder / name, text.replace(_DEFAULT_STORE, store or _DEFAULT_STORE))
        (folder / _STATE).mkdir(mode=0o700)
    except OSError as error:
        reason = (error.strerror or "it cannot be written").lower()
        raise Misuse(f"no project can be made in `{folder}`: {reason}", remedy="choose a folder that you own") from None
    audit = load_config(folder / CONFIG).audit
    key = make_signing_key(audit.signing_key)
    make_raw_key(audit.raw_key)
    return Project(
        folder=folder,
        files=(*_FILES, f"{_STATE}/"),
        fingerprint=key_fingerprint(key.public_key()),
        on_server=is_postgres(store or ""),
    )


def _require_store(url: str | None) -> None:
    if url is not None and not (is_postgres(url) and re.fullmatch(r"[\x21\x23-\x5b\x5d-\x7e]+", url)):
        raise Misuse(
            f"`{visible(url)}` is no address of a PostgreSQL database", remedy="write `postgresql://user@host/db`"
        )


def template(name: str) -> str:
    """A file that ships with the command line."""
    return (files("ringfence.cli") / "templates" / name).read_text(encoding="utf-8")


def write_new(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)


def _require_room(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise Misuse(f"`{folder}` is not a folder", remedy="name a folder")
    taken = [name for name in (*_FILES, _STATE) if (folder / name).exists()]
    if taken:
        listed = ", ".join(f"`{name}`" for name in taken)
        raise Misuse(f"{listed} exists already in `{folder}`, and nothing is overwritten", remedy="choose a new folder")
