"""The one host matcher: what a pattern allows, and the ways around it that do not work."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from publicsuffixlist import PSLFILE, PublicSuffixList

from ringfence.contract import hosts
from ringfence.contract.hosts import DEFAULT_PORTS, HostPattern, allows, covers, intersect, normalise_host, parse
from ringfence.errors import CallRefused, DeclarationRefused

pytestmark = pytest.mark.req("NET-3")


def test_an_empty_host_list_allows_nothing() -> None:
    assert not allows([], "example.com", 443)
    assert not allows([], "", 443)


def test_an_exact_host_allows_itself_at_the_web_ports_only() -> None:
    assert allows(["example.com"], "example.com", 443)
    assert allows(["example.com"], "example.com", 80)
    assert not allows(["example.com"], "example.com", 8443)
    assert not allows(["example.com"], "www.example.com", 443)


def test_a_port_in_the_pattern_is_the_only_port() -> None:
    assert allows(["db.example.com:5432"], "db.example.com", 5432)
    assert not allows(["db.example.com:5432"], "db.example.com", 443)


def test_a_wildcard_allows_sub_domains_at_any_depth_but_not_the_apex() -> None:
    assert allows(["*.example.com"], "api.example.com", 443)
    assert allows(["*.example.com"], "a.b.c.example.com", 443)
    assert not allows(["*.example.com"], "example.com", 443)
    assert not allows(["*.example.com"], ".example.com", 443)


@pytest.mark.parametrize(
    "host",
    [
        "allowed.com.evil.com",
        "evilallowed.com",
        "evil.com",
        "allowed.com@evil.com",
        "evil.com@allowed.com",
        "user:word@allowed.com",
        "allowed.com\x00.evil.com",
        "evil.com\x00allowed.com",
        "allowed%2ecom",
        "allowed.com%00",
        "allowed.com/",
        "evil.com/.allowed.com",
        "evil.com#.allowed.com",
        "evil.com?.allowed.com",
        "evil.com\\.allowed.com",
        "https://allowed.com",
        "allowed.com:443",
        "allowed.com..",
        "x..allowed.com",
        "-x.allowed.com",
        " allowed.com",
        "allowed.com\n",
        "allowed.com\t",
        "x\u3000.allowed.com",
        "x\u200b.allowed.com",
        "evil.com\uff0f.allowed.com",
        "evil.com\u2100.allowed.com",
        "xn--a.allowed.com",
        "a" * 64 + ".allowed.com",
        "a." * 130 + "allowed.com",
        "*.allowed.com",
        ".",
        "",
        "allowed.com" * 1000,
    ],
)
def test_a_host_that_only_resembles_a_listed_one_is_refused(host: str) -> None:
    assert not allows(["allowed.com", "*.allowed.com"], host, 443)


@pytest.mark.parametrize(
    "host",
    ["2130706433", "0177.0.0.1", "0x7f.1", "0x7f000001", "127.1", "127.0.0.01", "0x", "1.2.3.4.5", "127.0.0.256"],
)
def test_an_odd_spelling_of_an_address_is_neither_a_host_nor_a_pattern(host: str) -> None:
    assert not allows(["127.0.0.1", "1.2.3.4"], host, 443)
    with pytest.raises(DeclarationRefused):
        parse(host)
    with pytest.raises(DeclarationRefused):
        parse(f"*.{host}")


@pytest.mark.parametrize(
    ("host", "normal"),
    [
        ("EXAMPLE.com", "example.com"),
        ("example.com.", "example.com"),
        ("b\u00dcCHER.example", "xn--bcher-kva.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("fa\u00df.example", "xn--fa-hia.example"),
        ("\uff45xample\u3002com", "example.com"),
        ("\uff11\uff12\uff17.0.0.1", "127.0.0.1"),
        ("127.0.0.1.", "127.0.0.1"),
        ("[2001:DB8:0::1]", "2001:db8::1"),
        ("2001:db8::1", "2001:db8::1"),
        ("[::ffff:7f00:1]", "127.0.0.1"),
        ("::ffff:127.0.0.1", "127.0.0.1"),
        ("r3---sn-x.example.com", "r3---sn-x.example.com"),
        ("my_bucket.example.com", "my_bucket.example.com"),
        ("localhost", "localhost"),
    ],
)
def test_every_spelling_of_a_host_becomes_one(host: str, normal: str) -> None:
    assert normalise_host(host) == normal


def test_a_host_that_cannot_be_read_is_refused_with_its_spelling_escaped() -> None:
    with pytest.raises(CallRefused) as refused:
        normalise_host("a\x1b[2Jb")
    assert refused.value.code == "host_not_allowed"
    assert refused.value.message == "host `a\\x1b[2Jb`: white space or control characters"


@pytest.mark.parametrize(
    "pattern",
    [
        "*", "*.", "**", "*:443", "*.com", "*.example", "*.co.uk", "*.github.io", "*.foo.ck", "*.yokohama.jp",
        "*.xn--p1ai", "*.*.example.com",
        "a.*.example.com", "api*.example.com", "*api.example.com", "example.*", "*.1.2.3.4", "*.[::1]", "",
        ".", ":443", "https://example.com", "example.com/path", "user@example.com", "example.com ", "exa mple.com",
        "example.com\n", "example.com\x00", "example%2ecom", "example.com:", "example.com:0", "example.com:65536",
        "example.com:http", "example.com:+80", "example.com:080", "example.com:\uff18\uff10", "example.com:80:80",
        "::1", "2001:db8::1", "[::1", "[::1%eth0]", "[::ffff:1.2.3.4]", "[1.2.3.4]", "a..b",
    ],
)  # fmt: skip
def test_a_pattern_that_is_too_wide_or_malformed_is_refused(pattern: str) -> None:
    with pytest.raises(DeclarationRefused):
        parse(pattern)
    with pytest.raises(DeclarationRefused):
        allows(["example.com", pattern], "example.com", 443)


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("a.*.com", "`*` stands only for the leftmost label, in front of a domain"),
        ("*.github.io", "anyone can register a name under `github.io`"),
        ("[::ffff:1.2.3.4]", "an IPv4 address in IPv6 spelling; write `1.2.3.4`"),
        ("a.com:99999", "the port is not a number from 1 to 65535"),
    ],
)
def test_a_refused_pattern_is_quoted_with_the_reason(pattern: str, reason: str) -> None:
    with pytest.raises(DeclarationRefused) as refused:
        parse(pattern)
    assert refused.value.message == f"host pattern `{pattern}`: {reason}"


def test_text_far_longer_than_a_host_is_refused_before_it_is_normalised() -> None:
    with pytest.raises(CallRefused, match="too long"):
        normalise_host("\u00e9" * 100_000)


@pytest.mark.parametrize(
    ("pattern", "parsed"),
    [
        ("API.Example.com.", HostPattern(host="api.example.com", reach="exact", ports=DEFAULT_PORTS)),
        ("*.example.com:8443", HostPattern(host="example.com", reach="subdomains", ports=frozenset({8443}))),
        ("10.0.0.5:5432", HostPattern(host="10.0.0.5", reach="exact", ports=frozenset({5432}))),
        ("[::1]", HostPattern(host="::1", reach="exact", ports=DEFAULT_PORTS)),
        ("[2001:db8::1]:22", HostPattern(host="2001:db8::1", reach="exact", ports=frozenset({22}))),
        ("*.www.ck", HostPattern(host="www.ck", reach="subdomains", ports=DEFAULT_PORTS)),
    ],
)
def test_a_well_formed_pattern_is_parsed_and_printed_back(pattern: str, parsed: HostPattern) -> None:
    assert parse(pattern) == parsed
    assert parse(str(parsed)) == parsed


def test_an_address_is_allowed_only_as_itself() -> None:
    assert allows(["10.0.0.5:5432"], "10.0.0.5", 5432)
    assert not allows(["10.0.0.5:5432"], "110.0.0.5", 5432)
    assert allows(["[::1]:80"], "::1", 80)
    assert allows(["[::1]:80"], "[0:0::1]", 80)


def test_parsed_patterns_may_stand_in_the_list() -> None:
    assert allows([parse("*.example.com"), "other.example:81"], "a.example.com", 443)


def test_the_public_suffix_list_is_read_as_its_own_library_reads_it() -> None:
    library = PublicSuffixList()
    with open(PSLFILE, encoding="utf-8") as lines:
        rules = [line.strip().lstrip("!").removeprefix("*.") for line in lines if line.strip() and line[:2] != "//"]
    names = [normalise_host(rule) for rule in rules[::7]]
    for name in [f"{under}{rule}" for rule in names for under in ("", "x.", "y.x.")]:
        assert hosts._is_public_suffix(name) == library.is_public(name), name  # pyright: ignore[reportPrivateUsage]


@pytest.mark.req("CON-14")
@pytest.mark.parametrize(
    ("a", "b", "both"),
    [
        ("*.github.com", "api.github.com", "api.github.com"),
        ("*.a.com", "*.b.a.com", "*.b.a.com"),
        ("*.a.com", "a.com", None),
        ("a.com", "b.com", None),
        ("a.com", "a.com:5432", None),
        ("a.com", "a.com:443", "a.com:443"),
        ("*.a.com:443", "x.a.com", "x.a.com:443"),
        ("*.a.com", "*.aa.com", None),
    ],
)
def test_the_intersection_is_what_both_allow(a: str, b: str, both: str | None) -> None:
    expected = None if both is None else parse(both)
    assert intersect(parse(a), parse(b)) == expected
    assert intersect(parse(b), parse(a)) == expected


_LABELS = st.lists(st.sampled_from(["a", "b", "aa"]), min_size=0, max_size=2)
_NAMES = _LABELS.map(lambda labels: ".".join([*labels, "a", "example"]))
_PORTS = st.sampled_from(["", ":80", ":443", ":5432"])
_PATTERNS = st.tuples(st.sampled_from(["", "*."]), _NAMES, _PORTS).map("".join).map(parse)
_ASKED = st.tuples(_NAMES, st.sampled_from([80, 443, 5432, 8443]))


@settings(deadline=None)
@given(a=_PATTERNS, b=_PATTERNS, asked=_ASKED)
def test_an_intersection_allows_exactly_what_both_allow(a: HostPattern, b: HostPattern, asked: tuple[str, int]) -> None:
    both = intersect(a, b)
    assert allows([both] if both else [], *asked) == (allows([a], *asked) and allows([b], *asked))


@settings(deadline=None)
@given(outer=_PATTERNS, inner=_PATTERNS, asked=_ASKED)
def test_a_pattern_allows_all_that_a_covered_one_allows(
    outer: HostPattern, inner: HostPattern, asked: tuple[str, int]
) -> None:
    if covers(outer, inner) and allows([inner], *asked):
        assert allows([outer], *asked)
    assert covers(outer, inner) == (intersect(outer, inner) == inner)


@settings(deadline=None)
@given(host=st.text(max_size=40), port=st.integers())
def test_no_text_makes_the_matcher_raise(host: str, port: int) -> None:
    assert not allows(["allowed.example.com:1"], host, port) or normalise_host(host) == "allowed.example.com"
