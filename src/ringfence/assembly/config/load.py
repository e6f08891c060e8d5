"""Load a config: read, check, build; or raise once, with every problem and its place.

Takes: a path, a dict or a Config.  Gives: a Config.  Never: applies a part of a file that has an error in it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ringfence.assembly.config.build import build
from ringfence.assembly.config.check import check
from ringfence.assembly.config.cross import cross_check
from ringfence.assembly.config.document import MOST_BYTES, read_yaml
from ringfence.assembly.config.exposure import check_exposure
from ringfence.assembly.config.from_code import read_mapping
from ringfence.assembly.config.gauntlet import run_gauntlet
from ringfence.assembly.config.keys import FILE
from ringfence.assembly.config.model import Config
from ringfence.assembly.config.plain import INVALID, is_mapping
from ringfence.assembly.config.problems import Report, TooManyProblems, shown_file
from ringfence.errors import ConfigInvalid, Misuse


def load_config(source: str | os.PathLike[str] | Mapping[str, Any] | Config) -> Config:
    """The config of a file, of a dict, or as it is; raises `ConfigInvalid` with all that is wrong."""
    if isinstance(source, Config):
        return source
    if isinstance(source, Mapping):
        value, report = read_mapping(source)
        return _understand(value, report=report, root=Path.cwd(), file=None)
    if not isinstance(source, str | os.PathLike):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Misuse(f"a config is a path, a dict or a `Config`, not a Python `{type(source).__name__}`")
    file = Path(source)
    content, mode = _read(file)
    value, report = read_yaml(_text(content, file=file), file=shown_file(file))
    if mode & stat.S_IWOTH:
        report.warn((), "everybody on this machine can write this file", remedy="`chmod o-w` it")
    return _understand(value, report=report, root=file.absolute().parent, file=file.absolute())


def _understand(value: Any, *, report: Report, root: Path, file: Path | None) -> Config:
    values: Any = INVALID
    with suppress(TooManyProblems):
        values = check(FILE, value, path=(), report=report)
        if is_mapping(values):
            cross_check(values, report=report)
            run_gauntlet(values, report=report)
            check_exposure(values, root=root, file=file, report=report)
    report.require_clean()
    return build(values, root=root, file=file, report=report)


def _read(file: Path) -> tuple[bytes, int]:
    try:
        # Not blocking: a pipe without a writer would be waited for until somebody notices.
        with open(os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
            mode = os.fstat(stream.fileno()).st_mode
            content = stream.read(MOST_BYTES + 1) if stat.S_ISREG(mode) else b""
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise _unreadable(file, f"cannot be read: {reason.lower()}") from None
    if not stat.S_ISREG(mode):
        raise _unreadable(file, "is not a regular file")
    if len(content) > MOST_BYTES:
        raise _unreadable(file, f"is longer than {MOST_BYTES} bytes")
    return content, mode


def _text(content: bytes, *, file: Path) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigInvalid((f"{shown_file(file)}:{line}:1: the file is not UTF-8 text",)) from None


def _unreadable(file: Path, reason: str) -> ConfigInvalid:
    return ConfigInvalid((f"{shown_file(file)}: the config file {reason}",))
