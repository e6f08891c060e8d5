"""Nothing that a tool says leaves a sandbox with a known value in it, and no log record does.

Takes: a sandbox, and the scrubber of the moment.  Gives: a sandbox that runs the same jobs and scrubs what comes back.
Never: lets a text pass unscrubbed because it is not what it should be.
"""

from __future__ import annotations

import json
import logging
import traceback
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ringfence.contract.capabilities import Kind
from ringfence.errors import CallRefused
from ringfence.execution.sandbox import Effects, Job, RawOutput, Sandbox
from ringfence.execution.strongbox import Strongbox
from ringfence.sanitise.known import Scrubber

# Records of others are theirs; the event loop reports what breaks in ours.
_LOGGERS = ("ringfence", "asyncio")


class ScrubbedSandbox:
    """Any sandbox, heard through the scrubber."""

    def __init__(self, sandbox: Sandbox, *, strongbox: Strongbox) -> None:
        self._sandbox = sandbox
        self._strongbox = strongbox
        self.name = sandbox.name

    @property
    def serves(self) -> frozenset[Kind]:
        return self._sandbox.serves

    def refusal(self, job: Job) -> CallRefused | None:
        return self._sandbox.refusal(job)

    async def run(self, job: Job) -> RawOutput:
        return scrubbed_output(await self._sandbox.run(job), scrubber=self._strongbox.scrubber)

    async def close(self) -> None:
        await self._sandbox.close()


def scrubbed_output(raw: RawOutput, *, scrubber: Scrubber) -> RawOutput:
    """Every word that a tool said or that names what it did; the evidence counts what was taken out, by name."""
    if not scrubber.knows_any:
        return raw
    found = Counter[str]()
    fault = raw.fault and replace(raw.fault, message=scrubber.scrubbed(raw.fault.message, found=found))
    clean = replace(
        raw,
        reply=None if raw.reply is None else _scrubbed_reply(raw.reply, scrubber=scrubber, found=found),
        for_model=None if raw.for_model is None else scrubber.scrubbed(raw.for_model, found=found),
        fault=fault,
        printed=scrubber.scrubbed_bytes(raw.printed, found=found),
        effects=_scrubbed_effects(raw.effects, scrubber=scrubber, found=found),
        evidence=_scrubbed_words(raw.evidence, scrubber=scrubber, found=found),
    )
    return replace(clean, evidence={**clean.evidence, "scrubbed": dict(sorted(found.items()))}) if found else raw


def _scrubbed_reply(reply: bytes, *, scrubber: Scrubber, found: Counter[str]) -> bytes:
    """A JSON text stays one: a value is taken out of the texts in it, and only what is no JSON is treated as bytes."""
    if not scrubber.hits(reply):
        return reply
    try:
        clean = json.dumps(scrubber.scrubbed_json(json.loads(reply), found=found)).encode()
    except (ValueError, RecursionError):
        clean = reply
    return scrubber.scrubbed_bytes(clean, found=found)


def _scrubbed_effects(effects: Effects, *, scrubber: Scrubber, found: Counter[str]) -> Effects:
    return replace(
        effects,
        network=_scrubbed_words(effects.network, scrubber=scrubber, found=found),
        files=_scrubbed_words(effects.files, scrubber=scrubber, found=found),
    )


def _scrubbed_words(words: Any, *, scrubber: Scrubber, found: Counter[str]) -> Any:
    """What the host measured, if a tool's own words got into it."""
    if not words or not scrubber.names_in(json.dumps(words, default=str)):
        return words
    return scrubber.scrubbed_json(words, found=found)


@contextmanager
def scrubbed_logs(scrubber: Callable[[], Scrubber]) -> Generator[None, None, None]:
    """While this lasts, no log record of Ringfence carries a value, in its message or in its traceback."""
    before = logging.getLogRecordFactory()
    open_ = True

    def made(*given: Any, **named: Any) -> logging.LogRecord:
        record = before(*given, **named)
        if open_ and record.name.partition(".")[0] in _LOGGERS:
            _scrub_record(record, scrubber=scrubber())
        return record

    logging.setLogRecordFactory(made)
    try:
        yield
    finally:
        open_ = False
        # Somebody may have put theirs around ours meanwhile; ours then passes records on as they are.
        if logging.getLogRecordFactory() is made:
            logging.setLogRecordFactory(before)


def _scrub_record(record: logging.LogRecord, *, scrubber: Scrubber) -> None:
    message = record.getMessage()
    if scrubber.names_in(message):
        record.msg, record.args = scrubber.scrubbed(message), None
    if record.exc_info and record.exc_info[1] is not None:
        shown = "".join(traceback.format_exception(record.exc_info[1])).rstrip("\n")
        if scrubber.names_in(shown):
            record.exc_text, record.exc_info = scrubber.scrubbed(shown), None
