"""Each Landlock version knows its rights, and says what it leaves open."""

from __future__ import annotations

import pytest

from ringfence.kernel.landlock import EVERYTHING_BUT_EXECUTE, NEWEST_KNOWN_VERSION, READ, RIGHTS, Kind, handled, missing

pytestmark = pytest.mark.req("SBX-6")


@pytest.mark.parametrize(
    ("version", "files", "network", "scope"),
    [
        (0, 0, 0, 0),
        (1, 0x1FFF, 0, 0),
        (2, 0x3FFF, 0, 0),
        (3, 0x7FFF, 0, 0),
        (4, 0x7FFF, 3, 0),
        (5, 0xFFFF, 3, 0),
        (6, 0xFFFF, 3, 3),
        (7, 0xFFFF, 3, 3),
    ],
)
def test_a_version_handles_every_right_it_knows(version: int, files: int, network: int, scope: int) -> None:
    assert tuple(handled(kind, version=version) for kind in Kind) == (files, network, scope)


def test_what_an_old_version_leaves_open_is_named() -> None:
    assert {right.name for right in missing(4)} == {"ioctl_dev", "abstract_unix_socket", "signal"}
    assert missing(NEWEST_KNOWN_VERSION) == ()
    assert [right.name for right in RIGHTS if not right.open_without_it] == []


def test_the_named_grants_hold_no_right_to_execute() -> None:
    assert READ == 0b1100
    assert EVERYTHING_BUT_EXECUTE == 0xFFFE
