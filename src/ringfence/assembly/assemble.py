"""Opens a runtime: reads the configuration, describes and registers the tools, joins the parts.

Takes: a config (path, dict or `Config`) and, from code, tools.  Gives: a `Runtime` for as long as the block lasts.
Never: imports a module that a config file names, and never opens half a runtime.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any

from ringfence.assembly.config import Config, load_config
from ringfence.assembly.existing import existing_requirements
from ringfence.assembly.offering import Sources, open_sources
from ringfence.assembly.raw_key import load_seal
from ringfence.assembly.registering import registration_events
from ringfence.assembly.secrets import open_strongbox
from ringfence.assembly.storing import open_store
from ringfence.assembly.workspaces import make_workspaces
from ringfence.contract.tool import Tool
from ringfence.errors import ConfigInvalid, DeclarationRefused, RingfenceError, TrailUnavailable
from ringfence.execution.sandbox import Sandbox
from ringfence.execution.scrubbing import ScrubbedSandbox, scrubbed_logs
from ringfence.execution.storage_desk import StorageDesks
from ringfence.kernel import large_pages
from ringfence.policy.rules import RuleBook, failing_examples
from ringfence.registry.pins import Offered
from ringfence.registry.registry import Registry, register
from ringfence.runtime import Runtime
from ringfence.runtime.ledger import Board
from ringfence.runtime.parts import Parts, Rulings
from ringfence.runtime.pins import voided
from ringfence.runtime.running import Running
from ringfence.runtime.watching import look, watch
from ringfence.store.kept import KeptStore

_log = logging.getLogger(__name__)
_CHECKPOINT_SECONDS = 1.0
_LEDGER_SECONDS = 0.2
_MEMORY_SECONDS = 1.0
# It takes a processor some milliseconds for every large page, and saves it some microseconds in every call.
_CALLS_WORTH_IT = 64


# Made so, a look at the clock runs no line of Python; a call looks at it half a dozen times.
utc_now: Callable[[], datetime] = partial(datetime.now, UTC)


@asynccontextmanager
async def open_runtime(
    config: str | os.PathLike[str] | Mapping[str, Any] | Config,
    *,
    tools: Sequence[Tool] = (),
    accept_as: str | None = None,
    dangerously_sandbox: Sandbox | None = None,
    now: Callable[[], datetime] = utc_now,
) -> AsyncGenerator[Runtime, None]:
    """A runtime for this configuration. `accept_as` names the operator who vouches for every contract found now."""
    settled = load_config(config)
    if accept_as is not None:
        settled.electorate.require_operator(accept_as)
    async with AsyncExitStack() as stack:
        strongbox = await open_strongbox(settled)
        stack.enter_context(scrubbed_logs(lambda: strongbox.scrubber))
        store = open_store(settled, now=now)
        make_workspaces(settled)
        stack.push_async_callback(store.close)
        desks = StorageDesks(store.storage, quota=settled.storage, strongbox=strongbox)
        opening = open_sources(settled, dangerously_sandbox=dangerously_sandbox, desks=desks)
        sources = await stack.enter_async_context(opening)
        registry = await _register(tools, sources=sources, store=store, accept_as=accept_as, now=now)
        _require_true_examples(settled, registry)
        board = Board(registry, book=store, code=settled.pins_code)
        await board.refresh()
        parts = Parts(
            strongbox=strongbox,
            board=board,
            rulings=_rulings(settled),
            store=store,
            sandbox=ScrubbedSandbox(sources.sandbox, strongbox=strongbox),
            seal=load_seal(settled.audit.raw_key),
            now=now,
            existing=existing_requirements(registry.tools.values(), secrets=strongbox.readable),
        )
        stack.push_async_callback(_sign_off, store)
        await look(parts)
        await stack.enter_async_context(_repeated(_sign_regularly(store), name="checkpoints"))
        await stack.enter_async_context(_repeated(_look_regularly(board), name="ledger"))
        await stack.enter_async_context(_repeated(watch(parts), name="watch"))
        await stack.enter_async_context(_repeated(_gather_memory(parts.running), name="memory"))
        yield Runtime(parts)


async def _register(
    tools: Sequence[Tool],
    *,
    sources: Sources,
    store: KeptStore,
    accept_as: str | None,
    now: Callable[[], datetime],
) -> Registry:
    offers = await sources.offers(tools, accept_as=accept_as)
    try:
        return await _record(offers, sources=sources, store=store, now=now)
    except DeclarationRefused as refused:
        # Another process recorded the same tools between the look at the record and the move; now its record stands.
        if refused.code != "definition_changed":
            raise
        return await _record(offers, sources=sources, store=store, now=now)


async def _record(
    offers: Sequence[Offered], *, sources: Sources, store: KeptStore, now: Callable[[], datetime]
) -> Registry:
    code = sources.config.pins_code
    registry = register(offers, ledger=await store.ledger(), code=code, whole=sources.whole)
    if registry.is_news:
        at = now()
        events = registration_events(registry, at=at)
        await store.record_registrations(registry, events=events, tell=lambda call: voided(call, at=at))
    return registry


def _require_true_examples(config: Config, registry: Registry) -> None:
    """A rule whose own examples say otherwise is an error in the file, found before it can decide anything."""

    def classes_of(name: str) -> tuple[str, str] | None:
        tool = registry.tools.get(name)
        return (tool.safety.value, tool.egress.value) if tool else None

    problems = [
        f"{config.locate(('policy', 'rules', index))}: {problem}"
        for index, rule in enumerate(config.rules)
        for problem in failing_examples(rule, classes_of=classes_of)
    ]
    if problems:
        raise ConfigInvalid(tuple(problems))


def _rulings(config: Config) -> Rulings:
    return Rulings(
        agents=config.agents,
        accounts=config.accounts,
        profiles=config.profiles,
        rules=RuleBook(config.rules),
        electorate=config.electorate,
        limits=config.sandbox.limits,
        approval_lifetime=config.approvals_expire,
        config_digest=config.digest,
        rule_digests={
            id_: rule.digest for id_, rule in zip(config.rule_ids, config.rules, strict=True) if id_ is not None
        },
        retention=config.audit.retention,
        prices=config.prices,
    )


async def _sign_off(store: KeptStore) -> None:
    await store.checkpoint()


@asynccontextmanager
async def _repeated(work: Coroutine[Any, Any, None], *, name: str) -> AsyncGenerator[None, None]:
    """Work that goes on for as long as the runtime is open."""
    task = asyncio.create_task(work, name=f"ringfence-{name}")
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _sign_regularly(store: KeptStore) -> None:
    """Sign where the trail stands, every second."""
    while True:
        await asyncio.sleep(_CHECKPOINT_SECONDS)
        try:
            await store.checkpoint()
        except TrailUnavailable:
            _log.exception("a checkpoint could not be written; it is tried again")


async def _look_regularly(board: Board) -> None:
    """Keep listed views near the record; a call looks for itself."""
    while True:
        await asyncio.sleep(_LEDGER_SECONDS)
        try:
            await board.refresh()
        except RingfenceError:
            _log.exception("the ledger could not be read; it is tried again")


async def _gather_memory(running: Running) -> None:
    """Have the memory of a process that has calls made in earnest kept in large pages, once."""
    while running.begun < _CALLS_WORTH_IT:  # noqa: ASYNC110  a call has better things to do than to tell
        await asyncio.sleep(_MEMORY_SECONDS)
    await asyncio.to_thread(large_pages.gather)
