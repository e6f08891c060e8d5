"""YAML is read without surprises: no aliases, no tags, no repeated keys, and `no` is a word."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from ringfence.assembly.config import document
from ringfence.assembly.config.document import DEPTH, read_yaml
from ringfence.assembly.config.scalars import NotAScalar, read_plain
from ringfence.errors import ConfigInvalid

pytestmark = pytest.mark.req("VIEW-1")


def value(text: str) -> Any:
    read, report = read_yaml(text, file="f.yaml")
    report.require_clean()
    return read


def problems(text: str) -> tuple[str, ...]:
    _, report = read_yaml(text, file="f.yaml")
    with pytest.raises(ConfigInvalid) as raised:
        report.require_clean()
    return raised.value.problems


@pytest.mark.parametrize(
    "word", ["yes", "no", "on", "off", "y", "n", "Yes", "OFF", "2026-01-02", "1:30", "1_000", "=", "0b1", "0o9"]
)
def test_words_that_yaml_1_1_would_turn_into_something_stay_text(word: str) -> None:
    assert value(f"a: {word}\n") == {"a": word}


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("12", 12),
        ("-3", -3),
        ("010", 10),
        ("0o10", 8),
        ("0x1F", 31),
        ("1.5", 1.5),
        (".5", 0.5),
        ("2e3", 2000.0),
    ],
)
def test_plain_scalars_are_read_the_yaml_1_2_way(text: str, read: object) -> None:
    found = read_plain(text)
    assert (type(found), found) == (type(read), read)


@pytest.mark.parametrize(
    "text", [".nan", ".inf", "-.Inf", "1e999", "9" * 17, "-" + "9" * 5000, "0x" + "f" * 60, "1." + "0" * 100]
)
def test_a_number_that_json_cannot_carry_is_refused(text: str) -> None:
    with pytest.raises(NotAScalar):
        read_plain(text)
    assert problems(f"a: {text}\n")[0].startswith("f.yaml:1:4: `a`: ")


def test_quoted_words_are_text() -> None:
    assert value("""{a: "1", b: 'true', c: "~"}""") == {"a": "1", "b": "true", "c": "~"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: &x 1\n", "f.yaml:1:4: `a`: an anchor (`&name`) is not read; leave it out"),
        ("a: !!str 1\n", "f.yaml:1:4: `a`: a tag (`!name`) is not read; leave it out"),
        ("a: !!python/object/apply:os.getcwd []\n", "f.yaml:1:4: `a`: a tag (`!name`) is not read; leave it out"),
        ("a: 1\n<<: {b: 2}\n", "f.yaml:2:1: a merge key (`<<`) is not read; write it out"),
        (
            "a:\n  b: 1\n  c: 2\n  b: 3\n",
            "f.yaml:4:3: `a.b`: the key stands here a second time; the first is on line 2",
        ),
        ("1: a\n", "f.yaml:1:1: a key must be text; put it in quotes"),
        ("true: a\n", "f.yaml:1:1: a key must be text; put it in quotes"),
        ("? [1, 2]\n: a\n", "f.yaml:1:3: a key must be text; put it in quotes"),
        ("a: 1\n---\nb: 2\n", "f.yaml:2:1: the file holds more than one document"),
        ("a: x\x07y\n", "f.yaml:1:5: a control character that YAML does not allow"),
    ],
)
def test_each_surprise_is_refused_where_it_stands(text: str, problem: str) -> None:
    assert problems(text)[0] == problem


@pytest.mark.parametrize("text", ["a: 1\nb: [1, 2\nc: 3\n", "a: 1\nb: 2\n\tc: 3\n", "a: 1\nb: 2\n  c: 'x\n"])
def test_text_that_is_no_yaml_is_refused_with_its_line(text: str) -> None:
    (problem,) = problems(text)
    assert re.fullmatch(r"f\.yaml:[34]:\d+: not valid YAML: .+", problem)


def test_an_alias_is_refused_and_never_followed() -> None:
    read, report = read_yaml("a: &x [1]\nb: *x\n", file="f.yaml")
    assert read["b"] != [1]
    with pytest.raises(ConfigInvalid, match=r"f\.yaml:2:4: `b`: an alias"):
        report.require_clean()


def _laughs() -> str:
    lines = ["a0: &a0 [lol, lol]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 60)]
    return "\n".join(lines)


def _deep() -> str:
    return "a: " + "[" * 500_000


def _deep_mapping() -> str:
    return "a: " + "{a: " * 200_000


def _anchors() -> str:
    return "\n".join(f"k{n}: &n{n} x" for n in range(60_000))


def _pairs() -> str:
    return "? " * 300_000


@pytest.mark.parametrize("loader", [yaml.CSafeLoader, yaml.SafeLoader])
@pytest.mark.parametrize("bomb", [_laughs, _deep, _deep_mapping, _anchors, _pairs])
def test_a_yaml_bomb_is_refused_in_bounded_time(
    bomb: Callable[[], str], loader: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document, "_LOADER", loader)
    text = bomb()
    began = time.process_time()
    found = problems(text)
    assert time.process_time() - began < 2
    assert 0 < len(found) <= 201


def test_nesting_ends_at_the_depth_that_is_promised() -> None:
    assert value("[" * DEPTH + "]" * DEPTH)
    assert problems("[" * (DEPTH + 2) + "]" * (DEPTH + 2)) == (f"f.yaml:1:{DEPTH + 2}: nested deeper than 32 levels",)


def test_every_key_and_item_has_its_place() -> None:
    _, report = read_yaml("a:\n  - x: 1\n    y: [p, q]\n", file="f.yaml")
    assert report.places.locate(("a", 0, "y", 1)) == "f.yaml:3:12: `a[0].y[1]`"
    assert report.places.locate(("a", 0, "absent")) == "f.yaml:2:5: `a[0].absent`"
