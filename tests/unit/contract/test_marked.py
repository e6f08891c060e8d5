"""A mark is found wherever it stands."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, TypeAdapter

from ringfence import Recipient, tool
from ringfence.contract.marked import Marked
from ringfence.contract.markers import RECIPIENT_KEYWORD
from ringfence.errors import DeclarationRefused

pytestmark = pytest.mark.req("POL-5")

Mail = Annotated[str, Recipient("email")]


class ByMail(BaseModel):
    """A letter."""

    kind: Literal["mail"]
    to: Mail


class ByPhone(BaseModel):
    """A message."""

    kind: Literal["phone"]
    to: Annotated[str, Recipient("sms")]


class Thread(BaseModel):
    """A letter with answers."""

    to: Mail
    answers: list[Thread] = Field(default_factory=list["Thread"])


def found(kind: Any, value: Any) -> list[tuple[str, Any, Any]]:
    """Place, channel and value of every recipient; the value stands under `x`."""
    schema = TypeAdapter(kind).json_schema()
    defs = {"$defs": schema.pop("$defs")} if "$defs" in schema else {}
    whole = {"type": "object", "properties": {"x": schema}, **defs}
    marked = Marked(whole, keyword=RECIPIENT_KEYWORD)
    return [(each.place, each.mark, each.value) for each in marked.found_in({"x": value})]


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (Mail, "a", [("x", "email", "a")]),
        (list[Mail], ["a", "b"], [("x.0", "email", "a"), ("x.1", "email", "b")]),
        (Annotated[list[str], Recipient("email")], ["a", "b"], [("x.0", "email", "a"), ("x.1", "email", "b")]),
        (Mail | None, "a", [("x", "email", "a")]),
        (Mail | None, None, []),
        (Annotated[str | None, Recipient("email")], "a", [("x", "email", "a")]),
        (dict[str, Mail], {"k": "a"}, [("x.k", "email", "a")]),
        (tuple[int, Mail], [1, "a"], [("x.1", "email", "a")]),
        (ByMail, {"kind": "mail", "to": "a"}, [("x.to", "email", "a")]),
        (ByMail | ByPhone, {"kind": "mail", "to": "a"}, [("x.to", "email", "a")]),
        (ByMail | ByPhone, {"kind": "phone", "to": "a"}, [("x.to", "sms", "a")]),
        (list[ByMail | ByPhone], [{"kind": "phone", "to": "a"}], [("x.0.to", "sms", "a")]),
        (
            Thread,
            {"to": "a", "answers": [{"to": "b", "answers": [{"to": "c"}]}]},
            [("x.to", "email", "a"), ("x.answers.0.to", "email", "b"), ("x.answers.0.answers.0.to", "email", "c")],
        ),
        (Annotated[dict[str, str], Recipient("email")], {"k": "a"}, [("x", "email", {"k": "a"})]),
    ],
)
def test_a_marked_value_is_found_at_any_depth(kind: Any, value: Any, expected: list[tuple[str, Any, Any]]) -> None:
    assert found(kind, value) == expected


def test_a_value_that_was_left_out_counts_as_its_default() -> None:
    @tool(safety="read")
    def send(to: Mail = "boss@evil.example") -> str:
        """Send."""
        return to

    marked = Marked(send.input_schema, keyword=RECIPIENT_KEYWORD)
    assert [each.value for each in marked.found_in({})] == ["boss@evil.example"]
    assert [each.value for each in marked.found_in({"to": "a"})] == ["a"]


def test_a_mark_on_the_names_of_members_finds_the_names() -> None:
    schema = {"type": "object", "propertyNames": {"x-recipient": "email"}, "additionalProperties": {"type": "string"}}
    assert [each.value for each in Marked(schema, keyword=RECIPIENT_KEYWORD).found_in({"a": "b"})] == ["a"]


def test_where_no_branch_fits_alone_every_branch_speaks() -> None:
    schema = {"anyOf": [{"type": "null", "x-recipient": "email"}, {"type": "integer"}]}
    assert [each.mark for each in Marked(schema, keyword=RECIPIENT_KEYWORD).found_in("a")] == ["email"]


@pytest.mark.parametrize("keyword", ["not", "if"])
def test_a_mark_that_nothing_could_hold_is_refused(keyword: str) -> None:
    schema = {"type": "object", "properties": {"x": {keyword: {"type": "string", "x-recipient": "email"}}}}
    with pytest.raises(DeclarationRefused, match="marks no value"):
        Marked(schema, keyword=RECIPIENT_KEYWORD)


def test_a_schema_that_goes_in_circles_ends() -> None:
    schema = {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A", "x-recipient": "email"}}}
    with pytest.raises(RecursionError):
        Marked(schema, keyword=RECIPIENT_KEYWORD).found_in("a")


@pytest.mark.parametrize("channel", ["", "E-Mail", "e mail", "1", "email\n"])
def test_a_recipient_names_a_channel(channel: str) -> None:
    with pytest.raises(DeclarationRefused, match="names no channel"):
        Recipient(channel)
