"""What a jail with listed programs holds besides: the files themselves, their loaders, and libraries without programs.

Takes: programs and this machine's installation.  Gives: mounts, links, rules and hidden paths for a blueprint.
Never: lets code be mapped from a folder that is not the loader's or Python's.
"""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ringfence.inside.layout import Entry, Link, Mount, Program, Rule
from ringfence.kernel import landlock
from ringfence.sandbox.installation import Installation
from ringfence.sandbox.library import programs_in, was_read

# What programs read besides their libraries; nothing of it can run.
READABLE = {
    "/usr/lib": "what programs keep beside their libraries",
    "/usr/lib64": "what programs keep beside their libraries",
    "/usr/lib32": "what `/lib32` points to",
    "/lib": "libraries, where it is not part of `/usr`",
    "/lib64": "the loader, where it is not part of `/usr`",
    "/usr/local/lib": "what programs that were built here keep beside their libraries",
    "/usr/share": "templates, time zones, languages, certificates, modules of scripts",
    "/etc/ssl/certs": "public certificates, for checking signatures",
    "/etc/ssl/openssl.cnf": "OpenSSL reads it when it is loaded",
    "/etc/ld.so.cache": "the loader finds shared libraries by it",
}
_ALIASES = ("/bin", "/sbin")
_MOST_LINKS = 40
_OF_VERSIONS = ("/usr/lib", "/usr/local/lib")
# A tool that is a program is started like any other, by the same calls.
ENTRY_CLIENTS = ("entry", "processes")


def python_folders(installation: Installation) -> list[str]:
    return [installation.library, *installation.standard, *installation.distributions, installation.package]


def _code_of_python(installation: Installation) -> list[str]:
    """Its folders, less the system's own folder of libraries: of that, the loader's part is enough."""
    return [path for path in python_folders(installation) if path not in ("/usr/lib", "/usr/lib64")]


def loaders_folders() -> tuple[str, ...]:
    """Where shared libraries lie: the folder of this machine's kind if there is one, else all of them."""
    kind = sysconfig.get_config_var("MULTIARCH") or "no such kind"
    of_this_kind = [path for path in (f"/usr/lib/{kind}", f"/lib/{kind}") if os.path.isdir(path)]
    candidates = (
        [*of_this_kind, "/usr/lib64", "/lib64"] if of_this_kind else ["/usr/lib64", "/usr/lib", "/lib64", "/lib"]
    )
    real = (os.path.realpath(path) for path in candidates if os.path.isdir(path))
    return tuple(dict.fromkeys(real))


def mounts_with_programs(installation: Installation, programs: Sequence[Program]) -> tuple[Mount, ...]:
    """Folders to read, and within or beside them those that code is mapped from."""
    code = _outermost([*loaders_folders(), *_code_of_python(installation), *_code_of_interpreters(programs)])
    readable = [path for path in READABLE if os.path.exists(path) and not os.path.islink(path)]
    readable = [path for path in _outermost(readable) if path not in code and not _within_any(path, code)]
    mounts = [Mount(path=path, kind=_kind(path)) for path in code]
    mounts += [Mount(path=path, kind=_kind(path), code="refused") for path in readable]
    return tuple(sorted(mounts, key=lambda mount: mount.path))


def _code_of_interpreters(programs: Sequence[Program]) -> list[str]:
    """A listed Python loads modules of the processor's code from a folder of its own version."""
    names = [os.path.basename(program.path) for program in programs]
    candidates = [f"{base}/{name}" for name in names for base in _OF_VERSIONS if name.startswith("python3.")]
    return [path for path in candidates if os.path.isdir(path)]


def hidden_programs(mounts: Sequence[Mount]) -> tuple[str, ...]:
    """Programs in folders that code is mapped from; whoever may tell a loader what to run could run them."""
    found = (programs_in(mount.path) for mount in mounts if mount.code == "allowed" and mount.kind == "folder")
    return tuple(path for paths in found for path in paths)


def unread_folders(mounts: Sequence[Mount]) -> tuple[str, ...]:
    """Those folders that have to be read before it is known what is hidden in them."""
    folders = (mount.path for mount in mounts if mount.code == "allowed" and mount.kind == "folder")
    return tuple(folder for folder in folders if not was_read(folder))


def program_links(
    programs: Sequence[Program], *, libraries: Sequence[Program] = (), mounts: Sequence[Mount] = ()
) -> tuple[Link, ...]:
    """The names that lead to each file where they are not its own, and the old names of folders of programs.

    A name in a folder that is mounted is there with it, and leads on to the next.
    """
    mounted = [mount.path for mount in mounts]
    ways = [place for each in (*programs, *libraries) for place in _way(each)]
    named = [Link(path=at, target=to) for at, to in ways if not _within_any(at, mounted)]
    aliases = [Link(path=path, target=os.readlink(path)) for path in _ALIASES if programs and os.path.islink(path)]
    return (*dict.fromkeys(named), *aliases)


def _way(program: Program) -> Iterator[tuple[str, str]]:
    """Each link between the name that was found and the file, with the file that it leads to in the end."""
    place = program.place
    for _ in range(_MOST_LINKS):
        if place == program.path:
            return
        yield place, program.path
        try:
            following = os.path.join(os.path.dirname(place), os.readlink(place))
        except OSError:
            return
        place = os.path.join(os.path.realpath(os.path.dirname(following)), os.path.basename(following))


def usual_folders(installation: Installation, programs: Sequence[Program]) -> tuple[str, ...]:
    """Every folder that code is mapped from whatever library a program asks for."""
    return tuple(mount.path for mount in mounts_with_programs(installation, programs) if mount.code == "allowed")


def program_rules(programs: Sequence[Program]) -> tuple[Rule, ...]:
    """The right to run exactly these files and what loads them."""
    files = dict.fromkeys([program.path for program in programs])
    files |= dict.fromkeys([program.loader for program in programs if program.loader is not None])
    return tuple(Rule(path=path, rights=landlock.RUN) for path in files)


def entry_rules(entry: Entry | None) -> tuple[Rule, ...]:
    """The right to run a tool's own program, and what loads it."""
    files = [] if entry is None else [entry.path, entry.loader]
    return tuple(Rule(path=path, rights=landlock.RUN) for path in files if path is not None)


def search_path(programs: Sequence[Program]) -> Mapping[str, str]:
    """Where a shell finds them by name."""
    if not programs:
        return {}
    return {"PATH": ":".join(dict.fromkeys(_folder(program.place) for program in programs))}


def _folder(path: str) -> str:
    return os.path.dirname(path)


def _kind(path: str) -> str:
    return "folder" if os.path.isdir(path) else "file"


def _outermost(paths: Iterable[str]) -> list[str]:
    listed = sorted(set(paths))
    return [path for path in listed if not _within_any(path, listed)]


def _within_any(path: str, others: Iterable[str]) -> bool:
    return any(path != other and path.startswith(other.rstrip("/") + "/") for other in others)
