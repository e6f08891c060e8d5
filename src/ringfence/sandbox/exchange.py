"""One call's conversation: the job goes out, one frame comes back, and the process that sent it ends.

Takes: a confined spare and the frames of a job.  Gives: what was said, printed and measured.  Never: waits longer than
the deadline, reads more than the bounds, or believes a reply while the process that sent it still runs.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from ringfence.execution.edge import Hearing, Passage
from ringfence.execution.storage import Desk
from ringfence.inside import wire
from ringfence.inside.storage_wire import MOST_QUESTION
from ringfence.sandbox.answering import Answering
from ringfence.sandbox.groups import Used
from ringfence.sandbox.live import Live, is_exiting, measure_live
from ringfence.sandbox.spare import Spare

_CHUNK = 65_536
_ENVELOPE_BYTES = 65_536
_SECONDS_TO_DIE = 5.0
_LOOKS = 4
_LET_IT_RUN = 0.00003


@dataclass(frozen=True, kw_only=True)
class Record:
    """How a process ended and what it used, as the warden reports it."""

    status: int
    cpu_seconds: float
    peak_memory_bytes: int


@dataclass(frozen=True, kw_only=True)
class Tree:
    """What the host saw of a call's process and all that it started: CPU time, and how many at least."""

    cpu_seconds: float = 0.0
    started: int = 0

    def and_then(self, later: Tree) -> Tree:
        """Both sightings as one: neither number ever falls."""
        return Tree(cpu_seconds=max(self.cpu_seconds, later.cpu_seconds), started=max(self.started, later.started))


# What a call can change by itself; what else it can reach, it reaches through the host.
Writes: TypeAlias = Literal["nowhere", "granted files"]
Ended: TypeAlias = Literal["with its reply", "recorded", "unknown"]


class Said(NamedTuple):
    """Everything the host saw of one call."""

    frame: tuple[wire.Kind, bytes] | None
    fault: tuple[str, str] | None
    printed: bytes
    ended: Ended
    record: Record | None
    measured: Live | None
    used: Used | None
    wall_seconds: float
    tree: Tree | None = None


class Exchange:
    """Driven by callbacks of the event loop alone, so that it ends in order even when nobody awaits it any more."""

    def __init__(
        self,
        spare: Spare,
        *,
        frames: bytes,
        wall_seconds: float,
        most_output: int,
        desk: Desk | None = None,
        hearing: Hearing | None = None,
        writes: Writes = "granted files",
    ) -> None:
        self.spare = spare
        self._channel = spare.ends.channel.fileno()
        self._loop = asyncio.get_running_loop()
        self._writing = False
        self._left = memoryview(frames)
        self._started = time.perf_counter()
        # First, so that the tool runs while this side gets ready to hear it.
        self._write()
        self._hearing: Hearing = hearing or self._loop
        self._writes: Writes = writes
        self.passage: Passage | None = None
        self.afterwards: Callable[[], object] | None = None  # called once it is over
        self.answering = None if desk is None else Answering(desk, send=self._say, stop=self.stop)
        self._reader = self._reader_of(most=most_output + _ENVELOPE_BYTES)
        self._most_printed = most_output
        self._printed = bytearray()
        self._fault: tuple[str, str] | None = None
        self._record: Record | None = None
        self._used: Used | None = None
        self._measured: Live | None = None
        self._replied: float | None = None
        self._closed = False
        self.over_with_reply = False
        self._leaves_by: Literal["itself", "record"] = "itself"
        self._look: Callable[[], Tree] | None = None
        self._tree: Tree | None = None
        self.over: asyncio.Future[Said] = self._loop.create_future()
        self._alarm = self._loop.call_later(wall_seconds, self.stop, "wall_limit", "the tool did not finish in time")
        self._hearing.add_reader(self._channel, self._readable)
        self._hearing.add_reader(spare.ends.printed, self._printing)

    def await_record(self) -> None:
        """Count this call as over only when the warden says that the process and all it started are gone."""
        self._leaves_by = "record"

    def look_with(self, look: Callable[[], Tree]) -> None:
        """How this call's tree is looked at while it stands; what is killed later is not counted by the kernel."""
        self._look = look

    def look(self) -> Tree | None:
        """What the tree has come to by now."""
        if self._look is not None:
            seen = self._look()
            self._tree = seen if self._tree is None else self._tree.and_then(seen)
        return self._tree

    def stop(self, code: str, message: str) -> None:
        """End the call for a reason of the host's; the first reason stands."""
        if self._closed:
            return
        self.look()
        if self._fault is None:
            self._fault = (code, message)
        self.spare.process.kill()
        self._alarm.cancel()
        self._alarm = self._loop.call_later(_SECONDS_TO_DIE, self._finish)

    def ended(self, record: Record, *, used: Used | None) -> None:
        """The warden's word: the process is gone, so whatever it said is here by now."""
        self._record, self._used = record, used
        if self._fault is None and not self._closed:
            self._drain()
        self._finish()

    def lost(self) -> None:
        """The whole jail is gone and nobody can say how this process ended."""
        self._finish()

    def _write(self) -> None:
        try:
            self._left = self._left[self.spare.ends.channel.send(self._left) :]
        except BlockingIOError:
            self._await_room("for more")
            return
        except OSError:
            # It is gone or closed its end; the warden will say how it ended.
            self._left = memoryview(b"")
        self._await_room("for more" if self._left else "for nothing")

    def _await_room(self, what: Literal["for more", "for nothing"]) -> None:
        """Write on when there is room in the channel; almost every call fits into it at once."""
        if what == "for more":
            self._writing = True
            self._loop.add_writer(self._channel, self._write)
        elif self._writing:
            self._writing = False
            self._loop.remove_writer(self._channel)

    def _reader_of(self, *, most: int) -> wire.ReplyReader:
        """A call without a desk has one frame to say, and nothing to ask."""
        if self.answering is None:
            return wire.ReplyReader(most=most)
        return wire.AskingReader(most=most, most_asked=MOST_QUESTION, hear=self._asked)

    def _asked(self, question: bytes) -> None:
        if self._left:
            raise wire.Malformed("a question before the answer to the last was read")
        if self.answering is not None and self._fault is None:
            self.answering.hear(question)

    def _say(self, frame: bytes) -> None:
        """Send a frame after what is still to be sent; a call that is over or has replied waits for none."""
        if self._closed or self._fault is not None or self._replied is not None:
            return
        self._left = memoryview(bytes(self._left) + frame)
        self._write()

    def _readable(self) -> None:
        try:
            piece = self.spare.ends.channel.recv(_CHUNK)
            self._reader.feed(piece)
        except BlockingIOError:
            return
        except (OSError, wire.Malformed) as problem:
            self._hearing.remove_reader(self._channel)
            self.stop("protocol_error", f"the reply is not one frame: {problem}")
            return
        if not piece:
            self._hearing.remove_reader(self._channel)
            self._at_its_end()
        elif self._replied is None and self._reader.ended:
            self._replied = time.perf_counter()
            self._end_it()

    def _end_it(self) -> None:
        """Measure the process that has said all it had to say, and end it."""
        process = self.spare.process
        self._measured = measure_live(process)
        if self._look is not None:
            self.look()
        if self._ends_at_once(self._measured):
            process.kill()
            self._drain()
            self._over_with_reply()
        else:
            self.spare.ends.channel.shutdown(socket.SHUT_WR)

    def _ends_at_once(self, seen: Live | None) -> bool:
        """Whether nothing can come of the process once it is killed.

        A killed thread runs no further line of its program. What it had begun in the kernel is over where it sleeps;
        where it does not, that could still change a file, and nothing else: all other ways lead through the host. A
        process that is not so is asked to leave, and the call goes on until it does.
        """
        if seen is None or seen.threads != "one" or self._leaves_by == "record":
            return False
        return seen.asleep or self._writes == "nowhere"

    def _at_its_end(self, looks: int = _LOOKS) -> None:
        """A process that waited for the host after its one frame, and is on its way out, needs no record.

        One that closed its channel and lives was told to by the tool: the call goes on until the warden says how it
        ended, or until its time is over.
        """
        if self._fault is not None or self._measured is None or self._leaves_by == "record":
            return
        if is_exiting(self.spare.process.pid):
            while self._drain_printed():
                continue
            self._over_with_reply()
        elif looks:
            # Between its last two calls a process is on its way out and does not show it yet. It may wait for this
            # very core, and the shortest timer of the event loop is ten times as long as it needs.
            time.sleep(_LET_IT_RUN)
            self._at_its_end(looks - 1)

    def _over_with_reply(self) -> None:
        if self._fault is not None:
            return
        self.over_with_reply = True
        self._tell("with its reply")
        # Nothing comes through them any more; whoever awaits the answer need not wait while they are closed.
        self._loop.call_soon(self._clear_up)

    def _printing(self) -> None:
        try:
            piece = os.read(self.spare.ends.printed, _CHUNK)
        except BlockingIOError:
            return
        if not piece:
            self._hearing.remove_reader(self.spare.ends.printed)
            return
        self._printed += piece[: self._most_printed - len(self._printed) + 1]
        if len(self._printed) > self._most_printed:
            del self._printed[self._most_printed :]
            self._hearing.remove_reader(self.spare.ends.printed)
            self.stop("output_limit", f"the tool printed more than {self._most_printed} bytes")

    def _drain_printed(self) -> bool:
        """Take what was printed; whether there may be more."""
        before = len(self._printed)
        self._printing()
        return self._fault is None and len(self._printed) > before

    def _drain(self) -> None:
        """Read all that the process wrote before it ended."""
        self._drain_channel()
        while self._drain_printed():
            continue

    def _drain_channel(self) -> None:
        try:
            while piece := self.spare.ends.channel.recv(_CHUNK):
                self._reader.feed(piece)
        except BlockingIOError:
            # On a busy machine the zygote has not yet come round to closing its copy; this end is closed next.
            return
        except (OSError, wire.Malformed) as problem:
            self._fault = ("protocol_error", f"the reply is not one frame: {problem}")

    def _finish(self) -> None:
        self._alarm.cancel()
        self._let_ends_go()
        self.spare.process.let_go()
        self._tell("recorded" if self._record else "unknown")
        self._make_way()

    def _clear_up(self) -> None:
        self._let_ends_go()
        self._make_way()

    def _make_way(self) -> None:
        """Have the next spare asked for, once; last of all, so that nothing of this call hangs on it."""
        afterwards, self.afterwards = self.afterwards, None
        if afterwards is not None:
            afterwards()

    def _let_ends_go(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._alarm.cancel()
        self._await_room("for nothing")
        self._hearing.remove_reader(self._channel)
        self._hearing.remove_reader(self.spare.ends.printed)
        self.spare.ends.close()

    def _tell(self, ended: Ended) -> None:
        # A call that ended as it should lasted until its reply; any other until its process was gone.
        over = self._replied if ended == "with its reply" and self._replied else time.perf_counter()
        if not self.over.done():
            self.over.set_result(
                Said(
                    frame=self._reader.frame(),
                    fault=self._fault,
                    printed=bytes(self._printed),
                    ended=ended,
                    record=self._record,
                    measured=self._measured,
                    used=self._used,
                    wall_seconds=over - self._started,
                    tree=self._tree,
                )
            )
