"""Calls on record, typed: listed, shown, taken back, settled by a person or by the tool's own word."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.cli.typed import Shop, typed

TOOLS = '''
"""Letters."""
from ringfence import CannotTell, Context, Done, Files, NotDone, tool


def was_put(ctx: Context, key: str) -> Done[str] | NotDone | CannotTell:
    try:
        return Done(ctx.files.read_text("outbox/letter"))
    except Exception:
        return CannotTell()


@tool(safety="write", idempotency="required", needs=[Files(write=["outbox"])], reconcile=was_put)
def put(ctx: Context, text: str) -> str:
    """Put a letter into the outbox, and break."""
    ctx.files.write_text("outbox/letter", text)
    raise RuntimeError("it broke")
'''
CONFIG = """
version: 1
tools: {modules: [letters], path: [.]}
people: {bob: {roles: [operator]}, alice: {roles: [approver]}}
agents: {ana: {allowed_tools: ["*"], workspace: work, files: {write: [outbox]}}}
sandbox: {kind: local}
"""


@pytest.fixture
def desk(tmp_path: Path) -> Shop:
    """A project whose only tool ends in doubt."""
    (tmp_path / "work" / "outbox").mkdir(parents=True)
    (tmp_path / "letters.py").write_text(TOOLS)
    (tmp_path / "ringfence.yaml").write_text(CONFIG)
    accepted = typed("check", "--accept", "--as", "bob", cwd=tmp_path)
    assert accepted.code in (0, 6), accepted
    return Shop(folder=tmp_path)


def in_doubt(desk: Shop) -> str:
    came = desk.typed("call", "ana", "put", '{"text": "hello"}', "--key", "k", "--json")
    assert came.code == 5, came
    id_: str = came.document["invocation_id"]
    return id_


@pytest.mark.req("OPS-1", "IDM-3")
def test_a_call_in_doubt_is_shown_and_settled_by_the_tools_own_word(desk: Shop) -> None:
    id_ = in_doubt(desk)
    shown = desk.typed("calls", "show", id_)
    assert (shown.code, "in_doubt" in shown.out, "it broke" in shown.out) == (0, True, True)
    assert desk.json("calls", "show", id_)["arguments"] == '{"text":"hello"}'
    settled = desk.typed("calls", "settle", id_, "--reconcile", "--as", "bob", "--json")
    assert (settled.code, settled.document["status"], settled.document["outcome"]["output"]) == (
        0,
        "completed",
        "hello",
    )
    assert desk.typed("audit", "verify").code == 0


@pytest.mark.req("OPS-1", "IDM-3")
def test_what_the_tool_cannot_tell_is_a_persons_to_settle(desk: Shop) -> None:
    id_ = in_doubt(desk)
    (desk.folder / "work" / "outbox" / "letter").unlink()
    assert desk.typed("calls", "settle", id_, "--reconcile", "--as", "alice").code == 4
    still = desk.typed("calls", "settle", id_, "--reconcile", "--as", "bob", "--json")
    assert (still.code, still.document["status"]) == (5, "in_doubt")
    assert desk.typed("calls", "settle", id_, "--as", "bob").code == 2
    assert desk.typed("calls", "settle", id_, "--reconcile", "--to", "failed", "--as", "bob").code == 2
    settled = desk.typed("calls", "settle", id_, "--to", "failed", "--because", "no letter", "--as", "bob", "--json")
    assert (settled.code, settled.document["status"]) == (0, "failed")
    assert desk.typed("calls", "settle", id_, "--reconcile", "--as", "bob").code == 2


@pytest.mark.req("OPS-1")
def test_a_call_that_nobody_knows_is_said_to_be_unknown(desk: Shop) -> None:
    for words in (("show",), ("cancel", "--as", "bob"), ("settle", "--reconcile", "--as", "bob"), ("resume",)):
        unknown = desk.typed("calls", words[0], "inv_000000000000000000000000", *words[1:])
        assert (unknown.code, "on record" in unknown.err) == (2, True), words
