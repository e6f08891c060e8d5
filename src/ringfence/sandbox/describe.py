"""Contracts read from tool code without the host ever importing it: a jail does, and its word is checked.

Takes: a module's name, or tools that a program declared.  Gives: contracts with the digest of their source.
Never: believes a description; each goes through the same constructors as an author's declaration.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ringfence.contract.document import read_document
from ringfence.contract.limits import Limits
from ringfence.contract.tool import Tool
from ringfence.contract.values import NotPlain, parse_json
from ringfence.errors import CallFailed, DeclarationRefused, RingfenceError
from ringfence.kernel import landlock
from ringfence.policy.grant import NOTHING
from ringfence.sandbox.blueprint import compile_blueprint
from ringfence.sandbox.frames import job_frames
from ringfence.sandbox.pool import Pool, Request, Served, Undelivered
from ringfence.sandbox.reading import read
from ringfence.sandbox.snapshot import Snapshots, Source, read_file, read_module

# No agent of a configuration can have this name, so none can share the jail.
AGENT = "(describing)"
_MOST_TOOLS = 1_000
_MOST_BYTES = 16 << 20
_DEPTH = 64
_MAIN = "__main__"
_MAIN_ALIAS = "ringfence_main_{}"
_REMEDY = "declare it as a plain function at the top level of a module that has a file"


@dataclass(frozen=True, kw_only=True)
class Described:
    """What one module declares, and the source it was read from."""

    module: str
    source: str
    digest: str
    tools: tuple[Tool, ...]


class Describer:
    """Reads contracts in a jail that no agent's call ever enters."""

    def __init__(self, pool: Pool, *, snapshots: Snapshots) -> None:
        self._pool = pool
        self._snapshots = snapshots

    async def describe(self, module: str, *, path: Sequence[Path]) -> Described:
        """The tools of a module that a configuration names."""
        return await self._describe(read_module(module, path=path), label=module)

    async def describe_declared(self, tools: Sequence[Tool]) -> tuple[Described, ...]:
        """The sources of tools that a program hands over; the jail must find the very same contracts there."""
        described: list[Described] = []
        homes = {tool.name: home_of(tool) for tool in tools}
        for home in dict.fromkeys(homes.values()):
            found = await self._describe(home.read(), label=home.module)
            seen = {tool.name: tool for tool in found.tools}
            ours = [tool for tool in tools if homes[tool.name] == home]
            for tool in ours:
                _require_same(tool, seen.get(tool.name))
            described.append(
                Described(module=found.module, source=found.source, digest=found.digest, tools=tuple(ours))
            )
        return tuple(described)

    async def _describe(self, source: Source, *, label: str) -> Described:
        snapshot = self._snapshots.keep(source)
        blueprint = compile_blueprint(
            NOTHING,
            limits=Limits(output_kb=_MOST_BYTES // 1024, cpu_seconds=30),
            environment={},
            installation=self._pool.installation,
            landlock_version=landlock.version(),
        )
        await self._pool.find_out()
        blueprint = self._pool.fit(blueprint, kinds=(), demands="confined")
        request = Request(
            agent=AGENT, source=snapshot.digest, blueprint=blueprint, frames=job_frames("describe"), contract=None
        )
        try:
            served = await self._served(request)
        except CallFailed as failure:
            raise DeclarationRefused(f"module `{label}`: {failure.message}", code=failure.code) from None
        reading = read(served.said, bounds=blueprint.layout.bounds)
        if reading.reply is None:
            fault = reading.fault
            raise DeclarationRefused(f"module `{label}` could not be described: {fault.message if fault else ''}")
        return Described(
            module=source.module,
            source=f"module:{label}",
            digest=snapshot.digest,
            tools=_contracts(reading.reply, module=label),
        )

    async def _served(self, request: Request) -> Served:
        try:
            return await self._pool.serve(request)
        except Undelivered as nobody:
            raise nobody.why from None


def _contracts(reply: bytes, *, module: str) -> tuple[Tool, ...]:
    try:
        documents = parse_json(reply, size=_MOST_BYTES, depth=_DEPTH)
    except NotPlain as problem:
        raise DeclarationRefused(f"module `{module}` gave no plain description: {problem}") from None
    listed: list[Any] = [None]
    if isinstance(documents, list):
        listed = documents  # pyright: ignore[reportUnknownVariableType]
    if not all(isinstance(each, dict) for each in listed):
        raise DeclarationRefused(f"module `{module}` gave no list of contracts")
    if len(listed) > _MOST_TOOLS:
        raise DeclarationRefused(f"module `{module}` declares more than {_MOST_TOOLS} tools")
    return tuple(read_document(document) for document in listed)


@dataclass(frozen=True, kw_only=True)
class Home:
    """Where a declared tool can be imported again: a module on the path, or one file under another name."""

    module: str
    file: Path
    folder: Path | None

    def read(self) -> Source:
        if self.folder is not None:
            return read_module(self.module, path=[self.folder])
        return read_file(self.file, module=_MAIN_ALIAS.format(self.file.stem))


def home_of(tool: Tool) -> Home:
    """Where a jail can import this tool again, or a refusal with the remedy."""
    function = tool.implementation.function if tool.implementation else None
    name = getattr(function, "__module__", None)
    module = sys.modules.get(name or "")
    if module is None or _is_nested(function):
        raise _unreachable(tool, "is not a plain function of a module")
    file = getattr(module, "__file__", None)
    if file is None or not Path(file).is_file():
        raise _unreachable(tool, "is declared where there is no file")
    if getattr(module, "__spec__", None) is not None and module.__spec__ is not None:
        name = module.__spec__.name
    if name == _MAIN or name is None:
        return Home(module=_MAIN, file=Path(file), folder=None)
    return Home(module=name, file=Path(file), folder=_import_folder(name, file=Path(file)))


def _is_nested(function: Callable[..., Any] | None) -> bool:
    """Lambdas, closures, methods and functions in functions cannot be found by their name."""
    qualified = getattr(function, "__qualname__", "<")
    return "<" in qualified or "." in qualified or getattr(function, "__closure__", None) is not None


def _import_folder(module: str, *, file: Path) -> Path:
    """The folder on the path from which the module's top-level name is found."""
    steps = module.count(".") + (1 if file.name == "__init__.py" else 0)
    return file.resolve().parents[steps]


def _require_same(tool: Tool, found: Tool | None) -> None:
    if found is None or found.fingerprint != tool.fingerprint:
        raise DeclarationRefused(
            f"tool `{tool.name}` is not, in the jail, the contract that the program declared",
            code="definition_changed",
            remedy="declare it the same way whenever its module is imported",
        )


def _unreachable(tool: Tool, why: str) -> RingfenceError:
    return DeclarationRefused(f"tool `{tool.name}` {why}, so a jail could not import it", remedy=_REMEDY)
