"""The kinds of text that a config file holds, each judged by the code that will later use it.

Takes: words from the file.  Gives: `Text` shapes.  Never: has an opinion of its own where a stage has one.
"""

from __future__ import annotations

import re
from datetime import timedelta

from ringfence.agents.rates import SECONDS, Rate, read_rate
from ringfence.assembly.config.shape import Text
from ringfence.assembly.config.store_urls import file_url
from ringfence.contract.capabilities import Network, Processes, Secrets
from ringfence.contract.hosts import parse
from ringfence.contract.paths import relative_path
from ringfence.contract.patterns import glob
from ringfence.contract.safety import Egress, Safety

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_LONGEST_WAIT = timedelta(days=366)
_LONGEST_RETENTION = 36_500
_SQLITE = "sqlite:///"


class TextRefused(ValueError):
    """The text is not what belongs here."""


def read_duration(text: str) -> timedelta:
    """`90s`, `30m`, `24h` or `7d`; more than nothing and at most a year."""
    found = re.fullmatch(r"([1-9][0-9]{0,8})([smhd])", text)
    length = timedelta(**{_UNITS[found[2]]: int(found[1])}) if found else timedelta()
    if not timedelta() < length <= _LONGEST_WAIT:
        raise TextRefused("not a length of time up to a year; write it like `90s`, `30m`, `24h` or `7d`")
    return length


def read_retention(text: str) -> timedelta:
    """A number of days, like `400d`; at least one, at most a century."""
    found = re.fullmatch(r"([1-9][0-9]{0,4})d", text)
    if not found or int(found[1]) > _LONGEST_RETENTION:
        raise TextRefused("not a number of days up to a century; write it like `400d`")
    return timedelta(days=int(found[1]))


def read_limit(text: str) -> Rate:
    """A number of calls in a time, like `20/hour`."""
    found = read_rate(text)
    if found is None:
        raise TextRefused(f"not a rate; write it like `20/hour`, by {', '.join(SECONDS)}")
    return found


def read_store_file(url: str) -> str:
    """The path in `sqlite:///path`; a fourth slash makes it absolute. A database keeps its state beside the config."""
    url = file_url(url)
    path = url.removeprefix(_SQLITE)
    if path == url or not path or path.startswith(":") or set("?#%") & set(path):
        raise TextRefused("not a store; write `sqlite:///state/ringfence.db` or `postgresql://…`")
    _host_path(path)
    return path


def _host_path(text: str) -> None:
    if not text.strip() or "\0" in text:
        raise TextRefused("not a path")
    if ".." in text.split("/"):
        raise TextRefused("a path that climbs with `..`; write it from the config file's folder down, or absolute")
    if text.startswith("~"):
        raise TextRefused("`~` is not expanded; write the path out")


def read_because(text: str) -> str:
    """A rule's reason as one line, with nothing in it that a terminal or a reader's eye would be misled by."""
    line = " ".join(text.split())
    if not line:
        raise TextRefused("is empty; say why, for the person who approves and the one who is refused")
    if not line.isprintable():
        raise TextRefused("has characters in it that cannot be shown")
    return line


def _matches_one_of(words: tuple[str, ...], what: str) -> Text:
    listed = ", ".join(f"`{word}`" for word in words)

    def check(text: str) -> None:
        if not any(map(glob(text), words)):
            raise TextRefused(f"matches no {what}; there are {listed}")

    return Text(says=f"a glob over {listed}", pattern=r"[a-z_*?]+", check=check)


NAME = Text(says="a name of lower-case letters, digits, `_` and `-`", pattern=r"[a-z][a-z0-9_-]{0,63}")
CHANNEL = Text(says="a channel like `whatsapp`", pattern=r"[a-z][a-z0-9_-]{0,63}")
INSTANCE = Text(says="an instance like `sales`", pattern=r"[a-z0-9][a-z0-9_.-]{0,63}")
TOOL_GLOB = Text(says="a tool's name, or a glob with `*` and `?`", pattern=r"[a-z0-9_*?]{1,128}")
TOOL_OR_GROUP = Text(
    says="a tool's name, a glob, or `group:<name>`", pattern=r"[a-z0-9_*?]{1,128}|group:[a-z][a-z0-9_-]{0,63}"
)
AGENT_GLOB = Text(says="an agent's name, or a glob with `*` and `?`", pattern=r"[a-z0-9_*?-]{1,128}")
BINDING_GLOB = Text(says="`channel:instance`, or a glob with `*` and `?`", pattern=r"[^\s\[\]{}!]{1,256}")
CLASS_GLOB = _matches_one_of(tuple(Safety), "safety class")
EGRESS_GLOB = _matches_one_of(tuple(Egress), "egress class")
BECAUSE = Text(says="a sentence", pattern=r"[\s\S]*\S[\s\S]*", check=read_because)
RECIPIENT = Text(says="an address of the channel, or a glob with `*` and `?`", pattern=r"\S{1,320}")
ANY_TEXT = Text(says="text")
MODULE = Text(says="a Python module's dotted name", pattern=r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
HOST = Text(says="`host`, `*.domain` or `host:port`", check=parse)
PRIVATE_ADDRESS = Text(
    says="one address and port like `10.0.0.5:5432`", check=lambda text: Network.permit(private=(text,))
)
CIDR = Text(says="a network like `203.0.113.0/24`", check=lambda text: Network(cidrs=(text,)))
RELATIVE_PATH = Text(says="a path below the agent's workspace", check=relative_path)
HOST_PATH = Text(says="a path, absolute or below the config file's folder", check=_host_path)
SECRET_NAME = Text(says="a name like `SENDGRID_KEY`", pattern=r"[A-Z][A-Z0-9_]{0,127}", check=Secrets.permit)
PLACE = Text(says="a name without spaces", pattern=r"[\x21-\x7e]{1,512}")
ARGUMENT_WORD = Text(says="one word of a command", pattern=r"[^\x00]{1,4096}")
BINARY = Text(says="a name like `git`, or an absolute path", check=Processes)
VARIABLE = Text(says="an environment variable's name", pattern=r"[A-Za-z_][A-Za-z0-9_]*")
DURATION = Text(says="a length of time like `24h`", pattern=r"[1-9][0-9]{0,8}[smhd]", check=read_duration)
RETENTION = Text(says="a number of days like `400d`", pattern=r"[1-9][0-9]{0,4}d", check=read_retention)
RATE = Text(says="a rate like `20/hour`", pattern=r"[1-9][0-9]{0,8}/(second|minute|hour|day)", check=read_limit)
STORE_URL = Text(
    says="`sqlite:///path` or `postgresql://…`", pattern=r"(sqlite:///|postgres(ql)?://).+", check=read_store_file
)
ARGUMENT = Text(says="`args.<name>`", pattern=r"args(\.[^.]+)+")
