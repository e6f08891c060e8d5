"""Holds the secrets of one runtime: asks their sources, notices a new version, knows every value that was in use.

Takes: sources by name.  Gives: values for calls that were granted them, and a scrubber that knows all of them.
Never: gives a value that its source no longer gives, or one too short to be hidden.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from ringfence.agents.accounts import Account
from ringfence.execution.secrets import SecretSource, SecretUnavailable, SecretValue
from ringfence.sanitise.known import NOTHING_KNOWN, Scrubber

# A value that was replaced may still be good at the far side, so it is still taken out of what leaves.
_REMEMBERED = 4


@dataclass(frozen=True, kw_only=True)
class Held:
    """One secret as it is now. `version` names the value to whoever compares, and says nothing about it."""

    value: SecretValue
    version: str
    asked_at: float


class Strongbox:
    """Everything secret that one runtime holds."""

    def __init__(
        self,
        sources: Mapping[str, SecretSource] | None = None,
        *,
        by_account: Mapping[str, str] | None = None,
        key: bytes = b"",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sources = dict(sources or {})
        self._by_account = dict(by_account or {})
        self._key = key
        self._clock = clock
        self._held: dict[str, Held] = {}
        self._known: dict[str, list[SecretValue]] = {}
        self.scrubber: Scrubber = NOTHING_KNOWN
        # Every placeholder begins with it, so that one is found in a request whatever call it was made for.
        self.marker = f"rf{secrets.token_hex(10)}"
        self.marks = Scrubber([("placeholder", self.marker)]) if self._sources else NOTHING_KNOWN

    async def load(self) -> dict[str, SecretUnavailable | str]:
        """Ask every source once; gives by name what is wrong: no value now (which may pass), or an unfit one."""
        wrong: dict[str, SecretUnavailable | str] = {}
        for name in self._sources:
            try:
                held = await self._ask(name)
            except SecretUnavailable as unavailable:
                wrong[name] = unavailable
                continue
            problem = held.value.problem()
            if problem is not None:
                wrong[name] = problem
            else:
                self._keep(name, held)
        self._renew()
        return wrong

    @property
    def readable(self) -> frozenset[str]:
        """The names whose source has given a value, and those that stand for another."""
        return frozenset(self._held) | frozenset(self._by_account)

    def behind(self, name: str, *, account: Account | None) -> str:
        """The secret that is meant by this name: itself, or the credential of the account that the call acts with."""
        channel = self._by_account.get(name)
        if channel is None:
            return name
        if account is None or account.channel != channel or account.credential is None:
            message = f"the secret `{name}` is the credential of an account on `{channel}`, and the call acts with none"
            raise SecretUnavailable(message, remedy=f"bind the agent to an instance of `{channel}` with a `credential`")
        return account.credential

    async def current(self, names: Iterable[str]) -> dict[str, Held]:
        """These secrets as they are now; `not_available` where one is not to be had."""
        return {name: await self._current(name) for name in names}

    async def _current(self, name: str) -> Held:
        source, held = self._sources.get(name), self._held.get(name)
        if source is None:
            raise SecretUnavailable(f"no source is configured for the secret `{name}`")
        if held is not None and self._clock() - held.asked_at < source.lasts:
            return held
        fresh = await self._ask(name)
        problem = fresh.value.problem()
        if problem is not None:
            raise SecretUnavailable(f"the value of the secret `{name}` {problem}")
        self._keep(name, fresh)
        if held is None or not fresh.value.same(held.value):
            self._renew()
        return fresh

    async def _ask(self, name: str) -> Held:
        source = self._sources[name]
        fetched = source.fetch() if source.lasts == 0 else await asyncio.to_thread(source.fetch)
        mark = fetched.value.mark(self._key)
        version = f"{mark}/{fetched.version}" if fetched.version else mark
        return Held(value=fetched.value, version=version, asked_at=self._clock())

    def _keep(self, name: str, held: Held) -> None:
        self._held[name] = held
        known = self._known.setdefault(name, [])
        if not known or not held.value.same(known[-1]):
            known.append(held.value)
            del known[:-_REMEMBERED]

    def _renew(self) -> None:
        self.scrubber = Scrubber((name, value.revealed()) for name, known in self._known.items() for value in known)
