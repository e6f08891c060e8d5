"""Answers what a call asks about its rows: within its grant, its quota, and without a secret in them.

Takes: a job with its warrant, then questions from its jail.  Gives: answers, and in numbers what was done.
Never: takes a namespace from a jail, keeps a secret, or leaves a write uncounted that may have happened.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from typing import Any

from ringfence.errors import CODES, CallFailed, CallRefused, RingfenceError
from ringfence.execution.sandbox import Job
from ringfence.execution.storage import Desk, KeyValue, Label, Namespace, StorageQuota, Writing, namespace_of, scopes_of
from ringfence.execution.storage_questions import Question, Unfit, read_question
from ringfence.execution.strongbox import Strongbox
from ringfence.inside.storage_wire import MOST_KEYS

MOST_QUESTIONS = 10_000
MOST_BYTES_ASKED = 32 << 20
# Reading a longer question takes the host longer than the others should wait for it.
_LONG = 16_384
# Of two values and what stands around them.
_AROUND = 4_096
_MOST_REFUSALS = 20
_UNUSABLE = "the storage cannot be used at this moment"

_log = logging.getLogger(__name__)


class StorageDesks:
    """Opens a desk for each call that was granted storage."""

    def __init__(self, rows: KeyValue, *, quota: StorageQuota, strongbox: Strongbox) -> None:
        self._rows = rows
        self._quota = quota
        self._strongbox = strongbox

    def open(self, job: Job) -> Desk:
        warrant = job.warrant
        if warrant is None or warrant.invocation_id != job.invocation_id:
            raise CallRefused("a call without its own warrant reaches no storage", code="approval_void")
        return CallDesk(job, rows=self._rows, quota=self._quota, strongbox=self._strongbox)


class CallDesk:
    """The desk of one call."""

    def __init__(self, job: Job, *, rows: KeyValue, quota: StorageQuota, strongbox: Strongbox) -> None:
        self._rows = rows
        self._quota = quota
        self._strongbox = strongbox
        self._spaces = {scope: namespace_of(job, scope) for scope in scopes_of(job)}
        self._label = Label(tool=job.tool.name, invocation_id=job.invocation_id)
        self._durable = job.tool.tool.consequential
        self._purpose = job.purpose
        self._did = Counter[str]()
        self._refusals: list[dict[str, str]] = []

    async def answer(self, question: bytes) -> bytes:
        try:
            return (await self._answer(question)).encode()
        except RingfenceError as refused:
            return json.dumps({"fault": self._refused(refused)}).encode()

    def document(self) -> dict[str, Any]:
        done = {name: self._did[name] for name in ("reads", "writes", "bytes_written")}
        return {**done, "refusals": list(self._refusals)} if self._refusals else done

    async def _answer(self, body: bytes) -> str:
        self._require_modest(body)
        question = await asyncio.to_thread(read_question, body) if len(body) > _LONG else read_question(body)
        space = self._spaces.get(question.scope)
        if space is None:
            message = f"storage of scope `{question.scope}` was not granted to this call"
            raise Unfit(message, code="not_available", weight="grave")
        if question.ask in ("get", "list"):
            self._did["reads"] += 1
            value = await self._read(question, space)
        else:
            value = json.dumps(await self._written(question, space))
        return f'{{"number":{question.number},"value":{value}}}'

    def _require_modest(self, body: bytes) -> None:
        """What a jail asks costs the host its own time, so there is an end to it before a byte is understood."""
        self._did["questions"] += 1
        self._did["bytes_asked"] += len(body)
        if self._did["questions"] > MOST_QUESTIONS or self._did["bytes_asked"] > MOST_BYTES_ASKED:
            message = f"one call asks its storage at most {MOST_QUESTIONS} times and {MOST_BYTES_ASKED} bytes"
            raise Unfit(message, code="storage_quota")
        if len(body) > 2 * self._quota.value_bytes + _AROUND:
            raise Unfit(f"a value has at most {self._quota.value_bytes} bytes here", code="storage_quota")

    async def _read(self, question: Question, space: Namespace) -> str:
        """The answer's JSON: keys, or a list of the one value, whose spelling is the store's own."""
        if question.ask == "list":
            keys = await self._rows.keys(space, prefix=question.prefix, after=question.after, most=MOST_KEYS)
            return json.dumps(keys, ensure_ascii=False)
        row = await self._rows.get(space, question.key)
        return "[]" if row is None else f"[{row.value}]"

    async def _written(self, question: Question, space: Namespace) -> bool | None:
        if self._purpose != "call":
            message = "whoever is asked how an earlier call ended reads its storage and changes nothing"
            raise Unfit(message, code="not_available", weight="grave")
        self._require_fit(question)
        # Counted before it is tried: what fails midway may have been kept all the same.
        size = 0 if question.ask == "delete" else len(question.key.encode()) + len(question.value.encode())
        self._count(1, size)
        try:
            happened = await self._write(question, space)
        except CallFailed:
            # The store's own word that nothing was changed.
            self._count(-1, -size)
            raise
        if happened is False:
            self._count(-1, -size)
        return happened

    def _count(self, writes: int, size: int) -> None:
        self._did["writes"] += writes
        self._did["bytes_written"] += size

    async def _write(self, question: Question, space: Namespace) -> bool | None:
        if question.ask == "delete":
            return await self._rows.delete(space, question.key)
        writing = Writing(
            label=self._label,
            quota=self._quota,
            durability="full" if self._durable else "normal",
            lasts=question.lasts,
        )
        if question.ask == "set":
            await self._rows.put(space, question.key, question.value, writing=writing)
            return None
        return await self._rows.swap(
            space, question.key, expected=question.expected, value=question.value, writing=writing
        )

    def _require_fit(self, question: Question) -> None:
        """Small enough, and without a secret: a row outlives the call, and nothing scrubs it later."""
        size = len(question.value.encode())
        if size > self._quota.value_bytes:
            message = f"a value has at most {self._quota.value_bytes} bytes here, and this one has {size}"
            raise Unfit(message, code="storage_quota")
        for text in (question.key, question.value):
            if self._strongbox.scrubber.names_in(text) or self._strongbox.marks.names_in(text):
                message = "a secret, or what stands for one, was to be kept in storage"
                raise Unfit(message, code="secret_misplaced", weight="grave")

    def _refused(self, refused: RingfenceError) -> dict[str, str]:
        """What the jail is told; the words of a store that failed are for the log alone."""
        code, message = refused.code, refused.message
        if not isinstance(refused, CallFailed):
            _log.error("storage failed: %s", refused.message)
            code, message = "not_available", _UNUSABLE
        weight = refused.weight if isinstance(refused, Unfit) else "ordinary"
        if len(self._refusals) < _MOST_REFUSALS:
            self._refusals.append({"code": code, "reason": message, "weight": weight})
        return {"code": code, "message": message, "remedy": CODES[code].remedy}
