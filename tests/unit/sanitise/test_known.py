"""Known values are taken out of every text, however they are spelled and wherever a piece ends."""

from __future__ import annotations

import base64
import html
import json
import random
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.sanitise.known import NOTHING_KNOWN, Scrubber

pytestmark = pytest.mark.req("SEC-3")

PLAIN = "sk_live_4fQz81LmXw2"
AWKWARD = 'p"4ss/w\\rd+é ü&<\n9ß😀'
LONG = "".join(random.Random(7).choices("ABCDEFGHabcdefgh0123456789+/", k=3_000))


def base64_after(before: int, value: str, *, coded: Callable[[bytes], bytes]) -> str:
    return coded(b"u" * before + value.encode() + b"rest").decode()


SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": lambda v: v,
    "JSON": json.dumps,
    "JSON with its own letters": lambda v: json.dumps(v, ensure_ascii=False),
    "JSON within JSON": lambda v: json.dumps(json.dumps(v)),
    "JSON with slashes escaped": lambda v: json.dumps(v).replace("/", "\\/"),
    "URL": quote,
    "URL, every character": lambda v: "".join(f"%{byte:02x}" for byte in v.encode()),
    "URL, a form": quote_plus,
    "URL within URL": lambda v: quote(quote(v)),
    "HTML": html.escape,
    "HTML numbers": lambda v: "".join(f"&#{ord(c)};" for c in v),
    "HTML hex numbers": lambda v: "".join(f"&#x{ord(c):X};" for c in v),
    "Python": repr,
    "Python, ASCII": ascii,
    "Python bytes": lambda v: repr(v.encode()),
    "hex": lambda v: v.encode().hex(),
    "upper hex": lambda v: v.encode().hex().upper(),
    "hex with colons": lambda v: v.encode().hex(":"),
    "backwards": lambda v: v[::-1],
    **{f"Base64 after {n} bytes": partial(base64_after, n, coded=base64.b64encode) for n in range(7)},
    **{f"URL-safe Base64 after {n} bytes": partial(base64_after, n, coded=base64.urlsafe_b64encode) for n in range(3)},
    "Base64 in lines": lambda v: base64.encodebytes(b"x" * 50 + v.encode() + b"y" * 50).decode(),
    "Base64 in lines, in JSON": lambda v: json.dumps(base64.encodebytes(b"x" * 50 + v.encode() + b"y").decode()),
}


@cache
def knowing(value: str) -> Scrubber:
    return Scrubber([("K", value)])


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("value", [PLAIN, AWKWARD, LONG], ids=["plain", "awkward", "long"])
def test_a_value_is_found_in_every_usual_spelling(value: str, spelling: str) -> None:
    written = SPELLINGS[spelling](value)
    found = Counter[str]()
    text = knowing(value).scrubbed(f"before {written} after", found=found)
    assert text.startswith("before ")
    assert text.endswith(" after")
    assert text.count("[REDACTED:K]") >= 1
    assert found == {"K": text.count("[REDACTED:K]")}
    left = text.replace("[REDACTED:K]", "")
    assert all(written[at : at + 12] not in left for at in range(80, len(written) - 92))
    assert len(left) <= 80 + (len(written) if "lines" in spelling else 0)


def test_each_value_is_named_and_the_text_around_is_left_alone() -> None:
    scrubber = Scrubber([("ONE", PLAIN), ("TWO", "other-value-22")])
    assert scrubber.scrubbed(f"a {PLAIN}, b other-value-22é") == "a [REDACTED:ONE], b [REDACTED:TWO]é"
    assert scrubber.names_in(f"x{PLAIN}") == {"ONE"}


@pytest.mark.parametrize("text", ["", "nothing of it", PLAIN[:-1], PLAIN.upper(), "\ud800 lone"])
def test_text_without_a_value_is_the_same_text(text: str) -> None:
    assert Scrubber([("K", PLAIN)]).scrubbed(text) is text
    assert NOTHING_KNOWN.scrubbed(text) is text


def test_a_lone_surrogate_beside_a_value_stays() -> None:
    assert Scrubber([("K", PLAIN)]).scrubbed(f"\ud800{PLAIN}\udcff") == "\ud800[REDACTED:K]\udcff"


def test_a_value_of_another_encoding_side_by_side_is_taken_whole() -> None:
    twice = base64.b64encode(f"{PLAIN}{PLAIN}".encode()).decode()
    assert Scrubber([("K", PLAIN)]).scrubbed(twice).replace("[REDACTED:K]", "") in ("", "=")


@given(st.lists(st.integers(1, 40), max_size=12), st.sampled_from(sorted(SPELLINGS)), st.integers(0, 3_000))
def test_a_value_that_is_cut_by_the_borders_of_pieces_is_found(cuts: list[int], spelling: str, padding: int) -> None:
    whole = b"." * padding + str(SPELLINGS[spelling](AWKWARD)).encode() + b"." * 2_000
    stream, out, at = knowing(AWKWARD).stream(), b"", 0
    for size in (padding + 3, *cuts):
        out += stream.feed(whole[at : at + size])
        at += size
    out += stream.feed(whole[at:]) + stream.end()
    assert out == knowing(AWKWARD).scrubbed_bytes(whole)
    assert stream.found["K"] >= 1


def test_a_stream_does_not_hold_back_more_than_the_longest_spelling() -> None:
    stream = Scrubber([("K", PLAIN)]).stream()
    assert len(stream.feed(b"." * 100_000)) > 98_000
    assert len(stream.feed(b"." * 100_000)) == 100_000


@pytest.mark.parametrize("event", [b'data: {"done": false}\n\n', b"<p>so it is.</p>\r\n", b"ready!\n"])
def test_a_stream_does_not_keep_what_no_value_can_be_part_of(event: bytes) -> None:
    stream = Scrubber([("K", PLAIN)]).stream()
    assert [stream.feed(event) for _ in range(3)] == [event] * 3


def test_json_is_scrubbed_in_texts_keys_and_numbers() -> None:
    scrubber = Scrubber([("PIN", "1234567890"), ("K", PLAIN)])
    value = {"a": [PLAIN, 1234567890, 5, None, True], PLAIN: {"b": 1.5}}
    assert scrubber.scrubbed_json(value) == {
        "a": ["[REDACTED:K]", "[REDACTED:PIN]", 5, None, True],
        "[REDACTED:K]": {"b": 1.5},
    }


def test_a_scrubber_shows_nothing_of_what_it_knows() -> None:
    scrubber = Scrubber([("K", PLAIN)])
    scrubber.scrubbed(PLAIN)
    assert PLAIN not in repr(scrubber) + repr(scrubber.hits) + repr(scrubber.stream())
    with pytest.raises(TypeError):
        vars(scrubber)


TOKEN = "gR7_kd-Zq0PxW~v3.Tn81yLmBc5Hs2Ja9fUeQo4iK6rXw"
PROSE = "the quick brown fox said 100 times that 2 x 3 is 6; see page 42 \n"
AROUND: dict[str, bytes] = {
    "few backslashes": (PROSE * 400).encode(),
    "many backslashes": json.dumps('"so", he said\n' * 1_500).encode(),
    "numbers": b"1000300 0041 0x41 100041 " * 900,
}
LONG_SPELLINGS: dict[str, Callable[[str], str]] = {
    **SPELLINGS,
    "hex by twos": lambda v: v.encode().hex(" ", 2),
    "hex by fours": lambda v: v.encode().hex(" ", 4),
    "Markdown": lambda v: v.replace("_", "\\_"),
    "every mark with a backslash": lambda v: "".join(c if c.isalnum() else f"\\{c}" for c in v),
    "one letter as a JSON code": lambda v: f"{v[:9]}\\u{ord(v[9]):04x}{v[10:]}",
    "one letter as a long code": lambda v: f"{v[:9]}\\U{ord(v[9]):08x}{v[10:]}",
    "one letter as a byte code": lambda v: f"{v[:9]}\\x{ord(v[9]):02x}{v[10:]}",
    "one letter as a URL code": lambda v: f"{v[:9]}%{ord(v[9]):02X}{v[10:]}",
    "one letter as an HTML code": lambda v: f"{v[:9]}&#{ord(v[9])};{v[10:]}",
}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("spelling", LONG_SPELLINGS)
@pytest.mark.parametrize("value", [TOKEN, LONG[:300]], ids=["token", "long"])
def test_in_a_long_text_a_value_is_found_wherever_it_begins(value: str, spelling: str, around: str) -> None:
    written = LONG_SPELLINGS[spelling](value).encode()
    text = AROUND[around]
    scrubber = knowing(value)
    assert scrubber.names_in(text) == frozenset()
    for shift in range(0, 40, 3):
        at = len(text) // 2 + shift
        whole = text[:at] + b" " + written + b" " + text[at:]
        assert scrubber.scrubbed_bytes(whole) == (
            text[: at - 12] + scrubber.scrubbed_bytes(text[at - 12 : at] + b" " + written + b" ") + text[at:]
        )
        assert b"[REDACTED:K]" in scrubber.scrubbed_bytes(whole)


@given(st.binary(max_size=3_000), st.text("abcXYZ019-_./+ é", min_size=40, max_size=60), st.integers(0, 30_000))
def test_in_a_long_text_the_same_is_found_as_piece_by_piece(noise: bytes, value: str, at: int) -> None:
    scrubber = Scrubber([("K", value), ("T", TOKEN)])
    filler = (noise or b".") * (30_000 // max(len(noise), 1) + 1)
    whole = filler[:at] + json.dumps(value).encode() + filler[at:] + base64.b64encode(TOKEN.encode())
    stream = scrubber.stream()
    pieces = [stream.feed(whole[cut : cut + 9_000]) for cut in range(0, len(whole), 9_000)]
    assert scrubber.scrubbed_bytes(whole) == b"".join(pieces) + stream.end()
