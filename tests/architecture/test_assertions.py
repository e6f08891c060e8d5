"""Every test shows what it asserts: by itself, or by a function whose name says that it does."""

from __future__ import annotations

import pytest

from tests.architecture.assertions import blind_in, blind_under, hollow_in, hollow_under
from tests.architecture.source import ROOT

pytestmark = pytest.mark.req("HOUSE-12")

PLACES = (ROOT / "tests", ROOT / "src" / "ringfence" / "testing")


def test_every_test_asserts_something_that_a_reader_sees() -> None:
    assert [each for place in PLACES for each in blind_under(place)] == []


def test_a_function_that_is_named_for_asserting_does() -> None:
    assert [each for place in PLACES for each in hollow_under(place)] == []


@pytest.mark.parametrize(
    "body",
    ["assert x", "with pytest.raises(E): f()", "pytest.fail('x')", "assert_refused(f())", "await here.expect_no(f)"],
)
def test_an_assertion_is_seen(body: str) -> None:
    assert blind_in(f"async def test_x():\n    {body}", name="f") == []


@pytest.mark.parametrize("body", ["f()", "refused(f())", "print('assert x')", "asserted = f()", "check(assert_x)"])
def test_a_test_that_only_runs_something_is_seen(body: str) -> None:
    assert blind_in(f"class TestX:\n    async def test_x(self):\n        {body}", name="f") == ["f::test_x"]


def test_a_name_that_promises_an_assertion_and_makes_none_is_seen() -> None:
    text = "def assert_a(): f()\ndef assert_b(): raise AssertionError\ndef expect_c(): assert_b()\ndef other(): f()"
    assert hollow_in(text, name="f") == ["f::assert_a"]
