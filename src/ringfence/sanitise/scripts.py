"""Which characters need an invisible neighbour, and why: the tables behind every invisible character that stays.

Takes: nothing.  Gives: sets of character ranges, each row with its reason.  Never: decides about a text.

The ranges follow Unicode 17 block by block; whole blocks are used so that letters of later versions are covered.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass


@dataclass(frozen=True)
class Ranges:
    """A set of characters, kept as sorted first and last code points."""

    firsts: tuple[int, ...]
    lasts: tuple[int, ...]

    def __contains__(self, char: str) -> bool:
        if not char:
            return False
        index = bisect_right(self.firsts, ord(char)) - 1
        return index >= 0 and ord(char) <= self.lasts[index]


def ranges(*rows: str) -> Ranges:
    """The union of rows such as `0600-08FF 200D`."""
    pairs: list[tuple[int, int]] = []
    for part in " ".join(rows).split():
        first, _, last = part.partition("-")
        pairs.append((int(first, 16), int(last or first, 16)))
    pairs.sort()
    return Ranges(tuple(first for first, _ in pairs), tuple(last for _, last in pairs))


JOINED: tuple[tuple[str, str], ...] = (
    # (blocks, why ZWJ and ZWNJ are spelling here)
    ("0590-05FF", "pointed Hebrew keeps marks apart with them"),
    ("0600-08FF FB50-FDFF FE70-FEFC", "Arabic, Syriac, N'Ko, Mandaic: they choose joined and unjoined forms; Persian words contain ZWNJ"),
    ("0900-0DFF 1CD0-1CFF A8E0-A8FF", "the scripts of India and Sinhala: they choose half forms, conjuncts and chillus"),
    ("0F00-109F A9E0-A9FF AA60-AA7F", "Tibetan and Myanmar: they choose stacks"),
    ("1780-17FF", "Khmer: they hold back the shifting of vowel signs"),
    ("1800-18AF 11660-1167F", "Mongolian: they choose positional forms"),
    ("1A20-1AAF 1B00-1C4F A800-A87F A880-A8DF A980-A9DF ABC0-ABFF", "Tai Tham, Balinese, Javanese, Meetei and their kin stack as those of India do"),
    ("10A00-10A5F 10AC0-10AFF 10B80-10BAF 10D00-10D3F 10F30-10FDF 1E900-1E95F", "joined scripts of the supplementary plane: Kharoshthi to Adlam"),
    ("11000-1165F 11680-11DFF 11F00-11F5F", "Brahmi and the scripts that come from it"),
)  # fmt: skip

UNSPACED: tuple[tuple[str, str], ...] = (
    # (blocks, why ZWSP and WJ are spelling here)
    ("0E00-0FFF", "Thai, Lao and Tibetan write no space between words; ZWSP marks where a line may break"),
    ("1000-109F A9E0-A9FF AA60-AA7F", "Myanmar, likewise"),
    ("1780-17FF 19E0-19FF", "Khmer: ZWSP is typed between words"),
    ("1950-19DF 1A00-1AAF AA80-AADF 11700-1174F", "Tai Le, New Tai Lue, Buginese, Tai Tham, Tai Viet, Ahom, likewise"),
    ("1B00-1BFF A930-A95F A980-A9DF AA00-AA5F", "Balinese, Sundanese, Batak, Rejang, Javanese, Cham, likewise"),
)  # fmt: skip

NEIGHBOURS: tuple[tuple[str, str, str], ...] = (
    # (invisible characters, the blocks they stay beside, why)
    ("17B4-17B5", "1780-17FF", "inherent vowels of Khmer"),
    ("180E", "1800-18AF", "the Mongolian vowel separator is spelling"),
    ("1BCA0-1BCA3", "1BC00-1BC9F", "shorthand controls belong to Duployan"),
    ("1D173-1D17A", "1D100-1D1FF", "beams and slurs belong to musical symbols"),
)

_IDEOGRAPHS = "3400-4DBF 4E00-9FFF F900-FAFF 20000-3FFFD"
_PICTOGRAPHS = (
    "A9 AE 203C 2049 2122 2139 2194-2199 21A9-21AA 231A-231B 2328 2388 23CF 23E9-23F3 23F8-23FA 24C2 25AA-25AB 25B6 25C0",
    "25FB-25FE 2600-2605 2607-2612 2614-2685 2690-2705 2708-2712 2714 2716 271D 2721 2728 2733-2734 2744 2747 274C 274E",
    "2753-2755 2757 2763-2767 2795-2797 27A1 27B0 27BF 2934-2935 2B05-2B07 2B1B-2B1C 2B50 2B55 3030 303D 3297 3299",
    "1F000-1F0FF 1F10D-1F10F 1F12F 1F16C-1F171 1F17E-1F17F 1F18E 1F191-1F19A 1F1AD-1F1E5 1F201-1F20F 1F21A 1F22F",
    "1F232-1F23A 1F23C-1F23F 1F249-1F3FA 1F400-1F53D 1F546-1F64F 1F680-1F6FF 1F774-1F77F 1F7D5-1F7FF 1F80C-1F80F",
    "1F848-1F84F 1F85A-1F85F 1F888-1F88F 1F8AE-1F8FF 1F90C-1F93A 1F93C-1F945 1F947-1FAFF 1FC00-1FFFD",
)

VARIANTS: tuple[tuple[str, str, str], ...] = (
    # (bases, the selectors that name a variant of them, why)
    (" ".join(_PICTOGRAPHS), "FE0E-FE0F", "text or emoji presentation"),
    ("30", "FE00", "zero with a short stroke"),
    ("FF10", "FE00", "full-width zero with a short stroke"),
    ("2018-2019 201C-201D", "FE00-FE02", "quotation marks of East Asian width"),
    ("3001-3002 FF01 FF0C FF0E FF1A-FF1B FF1F", "FE00-FE01", "East Asian punctuation, in the corner or centred"),
    ("2200-22FF 2980-29FF 2A00-2AFF", "FE00", "mathematical operators with another stroke or slant"),
    ("210B 2110 2112 211B 212C 2130-2131 2133 1D49C-1D4CF", "FE00-FE01", "chancery and roundhand script letters"),
    ("1000-109F AA60-AA7F A9E0-A9FF", "FE00", "dotted forms of Myanmar"),
    ("A840-A87F", "FE00", "reversed letters of Phags-pa"),
    ("10AC0-10AFF", "FE00", "alternate letters of Manichaean"),
    ("13000-143FF", "FE00-FE06", "rotated Egyptian hieroglyphs"),
    ("1807 1820-18AA", "180B-180D 180F", "free variants of Mongolian letters"),
    (_IDEOGRAPHS, "FE00-FE02", "compatibility ideographs"),
    (_IDEOGRAPHS, "E0100-E011F", "ideographic variants, as in Japanese names; 32 of the 240 selectors, so that none carries a byte"),
)  # fmt: skip

joined = ranges(*(blocks for blocks, _ in JOINED))
unspaced = ranges(*(blocks for blocks, _ in UNSPACED))
neighbours = tuple((ranges(chars), ranges(blocks)) for chars, blocks, _ in NEIGHBOURS)
pictographs = ranges(*_PICTOGRAPHS)
skin_tones = ranges("1F3FB-1F3FF")
variants = tuple((ranges(selectors), ranges(bases)) for bases, selectors, _ in VARIANTS)
leading_consonants = ranges("1100-115F A960-A97F")
vowels_of_hangul = ranges("1160-11A7 D7B0-D7C6")
