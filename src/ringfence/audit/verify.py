"""Proves the trail: every chain whole, every checkpoint signed, nothing cut off, nothing put back.

Takes: links, checkpoints, the anchor's lines and a public key from outside the store.  Gives: a report.
Never: stops at the first problem, and never keeps more of the trail in memory than its checkpoints.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from ringfence.audit.chain import GENESIS, Head, Link, head_of, seal, sha256
from ringfence.audit.checkpoint import Checkpoint, is_signed, key_fingerprint, read_line, read_statement
from ringfence.audit.retention import Retained

_MOST_PROBLEMS = 50


@dataclass(frozen=True, kw_only=True)
class Report:
    """What verification found; `ok` only where there is no problem at all."""

    events: int
    checkpoints: int
    uncovered: int
    anchored: int | None
    key: str
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        return not self.problems


@dataclass
class _Findings:
    """Problems as they are found; past a bound only the fact that there are more is kept."""

    problems: list[str] = field(default_factory=list[str])

    def add(self, problem: str) -> None:
        if len(self.problems) < _MOST_PROBLEMS:
            self.problems.append(problem)

    def extend(self, problems: Iterable[str]) -> None:
        for problem in problems:
            self.add(problem)


def verify_trail(
    links: Iterable[Link], *, checkpoints: Iterable[Checkpoint], anchor: Iterable[str] | None, key: Ed25519PublicKey
) -> Report:
    """Check everything there is to check; `links` come ordered by writer and sequence."""
    findings = _Findings()
    chain = list(checkpoints)
    findings.extend(_checkpoint_problems(chain, key=key))
    anchored = None if anchor is None else list(anchor)
    if anchored is not None:
        findings.extend(_anchor_problems(anchored, checkpoints=chain, key=key))
    walk = _Walk(expected=_expected(chain), findings=findings)
    for each in links:
        walk.step(each)
    walk.finish()
    return Report(
        events=walk.events,
        checkpoints=len(chain),
        uncovered=walk.uncovered,
        anchored=None if anchored is None else len(anchored),
        key=key_fingerprint(key),
        problems=tuple(findings.problems),
    )


def _checkpoint_problems(chain: list[Checkpoint], *, key: Ed25519PublicKey) -> Iterator[str]:
    previous = GENESIS
    for position, checkpoint in enumerate(chain, start=1):
        statement = read_statement(checkpoint)
        if not is_signed(checkpoint, key=key):
            yield f"checkpoint {checkpoint.number} is not signed by {key_fingerprint(key)}"
        if statement is None or statement.number != checkpoint.number or checkpoint.number != position:
            yield f"checkpoint {checkpoint.number} is not the {position}. of its chain"
        elif statement.previous != previous:
            yield f"checkpoint {checkpoint.number} does not follow the one before it"
        previous = checkpoint.hash


def _anchor_problems(lines: list[str], *, checkpoints: list[Checkpoint], key: Ed25519PublicKey) -> Iterator[str]:
    kept = {checkpoint.number: checkpoint for checkpoint in checkpoints}
    for position, line in enumerate(lines, start=1):
        anchored = read_line(line)
        if anchored is None or not is_signed(anchored, key=key):
            yield f"line {position} of the anchor is not a checkpoint signed by {key_fingerprint(key)}"
        elif anchored.number not in kept:
            yield f"checkpoint {anchored.number} is in the anchor, not in the store: the trail was cut or rolled back"
        elif kept[anchored.number] != anchored:
            yield f"checkpoint {anchored.number} differs between anchor and store: the trail was replaced"


def _expected(checkpoints: list[Checkpoint]) -> dict[tuple[str, int], str]:
    statements = filter(None, map(read_statement, checkpoints))
    return {(head.writer, head.seq): head.hash for statement in statements for head in statement.heads}


class _Walk:
    """Follows the chains one link at a time."""

    def __init__(self, *, expected: dict[tuple[str, int], str], findings: _Findings) -> None:
        self._expected = expected
        self._covered = _last_covered(expected)
        self._findings = findings
        self._head = Head(writer="")
        self._retained = Retained()
        self.events = 0
        self.uncovered = 0

    def step(self, link: Link) -> None:
        if link.writer != self._head.writer:
            self._head = Head(writer=link.writer)
        self._findings.extend(_link_problems(link, head=self._head))
        self._retained.meet(link)
        promised = self._expected.pop((link.writer, link.seq), link.hash)
        if promised != link.hash:
            self._findings.add(f"{_name(link)} is not the event that a checkpoint names")
        self.events += 1
        self.uncovered += link.seq > self._covered.get(link.writer, 0)
        self._head = head_of(link)

    def finish(self) -> None:
        unexplained = self._retained.unexplained()
        if unexplained is not None:
            self._findings.add(f"the body of {_name(unexplained)} was removed, and no operator let it go")
        for writer, seq in self._expected:
            self._findings.add(
                f"event {seq} of writer {writer} is named by a checkpoint and missing: the trail was cut"
            )


def _last_covered(expected: dict[tuple[str, int], str]) -> dict[str, int]:
    last: dict[str, int] = {}
    for writer, seq in expected:
        last[writer] = max(seq, last.get(writer, 0))
    return last


def _link_problems(link: Link, *, head: Head) -> Iterator[str]:
    if link.seq != head.seq + 1:
        yield f"{_name(link)} follows event {head.seq}: events are missing or doubled"
    if link.previous != head.hash:
        yield f"{_name(link)} does not name the event before it"
    if link.hash != seal(link):
        yield f"{_name(link)} was altered"
    if link.body is not None and sha256(link.body) != link.body_digest:
        yield f"the body of {_name(link)} was altered"


def _name(link: Link) -> str:
    return f"event {link.seq} of writer {link.writer}"
