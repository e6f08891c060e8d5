"""What the kernel says of pages, and which of them may be let go together."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from ringfence.inside.bedrock import Piece
from ringfence.inside.unchanged import Sight, ranges_without_change
from ringfence.kernel.unattended import PAGE, READ, WRITE

pytestmark = pytest.mark.req("SBX-2")
ABSENT, SWAPPED, OWN, OF_THE_FILE = 0, 1 << 62, 1 << 63, 1 << 63 | 1 << 61


@pytest.mark.parametrize(
    ("entries", "ranges"),
    [
        ([OF_THE_FILE, ABSENT, OWN], [(2, (0, 3 * PAGE))]),
        ([ABSENT, OF_THE_FILE, ABSENT], [(1, (PAGE, PAGE))]),
        ([ABSENT, ABSENT], []),
        ([OF_THE_FILE, SWAPPED, OF_THE_FILE], [(1, (0, PAGE)), (1, (2 * PAGE, PAGE))]),
        ([SWAPPED | 1 << 61], []),
    ],
    ids=["around an absent one", "without its ends", "none", "not across a swapped one", "nor one of the file's"],
)
def test_a_range_holds_no_page_that_nobody_can_look_at(
    entries: list[int], ranges: list[tuple[int, tuple[int, int]]], tmp_path: Path
) -> None:
    told = tmp_path / "pages"
    told.write_bytes(struct.pack(f"{len(entries)}Q", *entries))
    piece = Piece(start=0, length=len(entries) * PAGE, rights=READ | WRITE, offset=0)
    with told.open("rb") as file:
        pages = Sight(memory=-1, pages=file.fileno()).pages_of(piece)
    assert list(ranges_without_change(pages, start=0)) == ranges
