"""A value is worked out once, and what was raised is not kept."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from ringfence.contract.remembering import remembered

pytestmark = pytest.mark.req("POL-1")


@dataclass(frozen=True, kw_only=True)
class Sum:
    parts: list[int]

    @remembered
    def whole(self) -> int:
        """All of them together."""
        if not self.parts:
            raise ValueError("there is nothing to add")
        return sum(self.parts)


def test_it_is_worked_out_once_for_each_object() -> None:
    one, other = Sum(parts=[1, 2]), Sum(parts=[3])
    assert (one.whole, other.whole) == (3, 3)
    one.parts.append(4)
    assert (one.whole, other.whole) == (3, 3)


def test_what_was_raised_is_raised_again_and_what_follows_is_kept() -> None:
    one = Sum(parts=[])
    for _ in range(2):
        with pytest.raises(ValueError, match="nothing to add"):
            _ = one.whole
    one.parts.append(1)
    assert one.whole == 1


def test_objects_are_equal_by_their_fields_alone() -> None:
    one, other = Sum(parts=[1]), Sum(parts=[1])
    assert one.whole == 1
    assert one == other
    assert repr(one) == repr(other)


def test_the_class_shows_what_it_is_for() -> None:
    assert isinstance(Sum.whole, remembered)
    assert Sum.whole.__doc__ == "All of them together."
