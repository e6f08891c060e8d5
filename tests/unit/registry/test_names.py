"""Names that a reader or a model could take for each other collide; honest neighbours do not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ringfence.errors import NameCollision
from ringfence.registry.confusables import readings, table
from ringfence.registry.names import NameIndex, collides, skeleton, valid_name

pytestmark = pytest.mark.req("REG-3")

_LOOK_ALIKES = st.text("aIl1im0oOrnvw\u0440\u200b\u039d", max_size=8)

CORPORA = Path(os.environ.get("RINGFENCE_CORPORA", "../shared/corpora"))


@pytest.mark.parametrize("name", ["a", "get_user", "a1_", "x" * 64, "github__get_issue"])
def test_a_plain_name_is_valid(name: str) -> None:
    assert valid_name(name)


@pytest.mark.parametrize(
    "name", ["", "1a", "_a", "Get", "a-b", "a.b", "a b", "a\n", "x" * 65, "p\u0430y", "a\u0661", "\uff41"]
)
def test_any_other_name_is_not_valid(name: str) -> None:
    assert not valid_name(name)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("pay", "\u0440ay"),
        ("pay", "pay"),
        ("pay", "PAY"),
        ("list_items", "LIST_ITEMS"),
        ("pay", "\uff50\uff41\uff59"),
        ("pay", "p\u200bay"),
        ("pay", "p\u00aday"),
        ("pay", "pay\ufe0f"),
        ("pay", "\u202epay"),
        ("pay", "p\x00ay"),
        ("pay", "p\U000e0061ay"),
        ("pay", " pay "),
        ("pay", "\u2003pay\u200b"),
        ("file", "\ufb01le"),
        ("list_all", "1ist_a11"),
        ("list_all", "Iist_all"),
        ("Iist_all_Items", "list_all_items"),
        ("get_0", "get_o"),
        ("modem", "modern"),
        ("view", "vievv"),
        ("name", "\u039dame"),
        ("caf\u00e9", "cafe\u0301"),
        ("t\u01a1", "to\u031b"),
        ("to'", "to\u031b"),
        ("\u041f\u041b\u0410\u0422\u0418", "\u043f\u043b\u0430\u0442\u0438"),
    ],
)
def test_names_that_read_alike_collide_both_ways(a: str, b: str) -> None:
    assert collides(a, b)
    assert collides(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("get_user", "get_users"),
        ("get_user", "set_user"),
        ("list_item", "list_items"),
        ("file_1", "file_2"),
        ("mail", "mall"),
        ("a_b", "ab"),
        ("get user", "getuser"),
        ("cafe", "caf\u00e9"),
        ("close", "dose"),
        ("", "a"),
        ("I" * 40, "l" * 41),
    ],
)
def test_honest_neighbours_do_not_collide(a: str, b: str) -> None:
    assert not collides(a, b)
    assert not collides(b, a)


def test_equal_skeletons_collide_and_capitals_do_not_change_one() -> None:
    assert skeleton("list_items") == skeleton("LIST_ITEMS") == "list_iterns"
    assert skeleton("\u0440ay") == "pay"


def test_of_ascii_only_the_capital_i_has_two_readings() -> None:
    several = {char: readings(char) for char in map(chr, range(128)) if len(readings(char)) > 1}
    assert several == {"I": ("i", "l")}


def test_every_character_settles_and_its_readings_stay_as_they_are() -> None:
    known = table()
    assert known.unicode.count(".") == 2
    for char in [*known.prototypes, *map(chr, range(0x3000))]:
        for reading in readings(char):
            assert known.settle(reading) == reading


def test_every_default_ignorable_character_disappears() -> None:
    known = table()
    spans = [range(start, end + 1) for start, end in zip(known.starts, known.ends, strict=True)]
    assert {readings(chr(point)) for span in spans for point in (span[0], span[-1])} == {("",)}
    assert readings(chr(known.ends[-1] + 1)) != ("",)
    assert list(known.starts) == sorted(known.starts)


@settings(deadline=None)
@given(a=_LOOK_ALIKES, b=_LOOK_ALIKES)
def test_collision_is_symmetric_and_the_index_agrees_with_it(a: str, b: str) -> None:
    index = NameIndex()
    index.add(a)
    assert collides(a, a)
    assert collides(a, b) == collides(b, a) == (index.find(b) is not None)


@settings(deadline=None)
@given(name=st.text(max_size=20))
def test_any_text_collides_with_itself_and_its_normal_form(name: str) -> None:
    assert collides(name, name)
    assert collides(name, unicodedata.normalize("NFC", name))


def test_an_index_refuses_the_second_of_two_names_and_names_both() -> None:
    index = NameIndex()
    index.add("pay")
    index.add("pay_all")
    with pytest.raises(NameCollision) as refused:
        index.add("\u0440ay")
    assert refused.value.message == "the tool names `\\u0440ay` and `pay` look the same"
    assert refused.value.code == "name_collision"


def test_an_index_refuses_the_same_name_twice() -> None:
    index = NameIndex()
    index.add("pay")
    with pytest.raises(NameCollision, match="the tool name `pay` is taken"):
        index.add("pay")


@pytest.mark.parametrize(
    ("first", "second"), [("I" * 30, "il" * 15), ("il" * 15, "I" * 30), ("I" * 30, "I" * 29 + "l")]
)
def test_a_name_with_too_many_readings_to_write_out_is_still_compared(first: str, second: str) -> None:
    index = NameIndex()
    index.add("other")
    index.add(first)
    with pytest.raises(NameCollision):
        index.add(second)


def test_a_refused_name_leaves_the_index_as_it_was() -> None:
    index = NameIndex()
    index.add("list")
    with pytest.raises(NameCollision):
        index.add("Iist")
    index.add("iist")
    assert index.find("LIST") == "list"


def test_importing_the_names_does_not_load_the_table() -> None:
    program = "import ringfence.registry.names; from ringfence.registry.confusables import table; "
    program += "print(table.cache_info().currsize)"
    assert subprocess.check_output([sys.executable, "-c", program]) == b"0\n"


@pytest.mark.skipif(not CORPORA.is_dir(), reason="the corpora are not on this machine: set RINGFENCE_CORPORA")
def test_the_corpus_of_pairs_is_judged_right_both_ways() -> None:
    pairs = _rows("homoglyph_pairs.jsonl")
    wrong = [pair["id"] for pair in pairs if collides(str(pair["a"]), str(pair["b"])) != pair["collide"]]
    assert (len(pairs) > 0, wrong) == (True, [])


@pytest.mark.skipif(not CORPORA.is_dir(), reason="the corpora are not on this machine: set RINGFENCE_CORPORA")
def test_the_corpus_of_look_alikes_of_ascii_collides_inside_a_name() -> None:
    rows = _rows("confusables_to_ascii.jsonl")
    wrong = [row["id"] for row in rows if not collides(f"ab{row['char']}cd", f"ab{row['target']}cd")]
    assert (len(rows) > 0, wrong) == (True, [])


def _rows(file: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (CORPORA / file).read_text(encoding="utf-8").splitlines()]
