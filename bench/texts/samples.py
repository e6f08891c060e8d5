"""Harmless texts of a given size to be timed with: words of many scripts, and English prose in ASCII.

Takes: how many characters.  Gives: a text, always the same.  Never: repeats a line.
"""

from __future__ import annotations

import random
from functools import cache
from typing import Literal

Scripts = Literal["ascii", "mixed"]

_ENGLISH = """the report of a market in spring shows that prices rose again while fewer people came to buy; the council
met twice, read what the clerks had written, and put the question of the bridge off until the river falls. A list of
stalls, with the names of those who keep them, hangs by the gate. Rates for a cart and two horses are 14 pence, for a
boat 9; whoever sells fish pays on Friday. In 1987 the wall was mended, and in 2004 the roof. Please send letters to
the second floor, write the number of your stall on each, and keep a copy. The key of the hall is with the porter.
def total(rows): return sum(row.price for row in rows if row.day == 5) # every line of the table counts once
{"stall": 12, "keeper": "A. Miller", "goods": ["bread", "honey"], "open": true, "since": "2019-04-01"}"""
_OTHERS = " ".join(
    (
        "Отчёт о весеннем рынке показывает, что цены снова выросли, а покупателей стало меньше.",
        "市场报告显示 春季价格再次上涨 而顾客减少。 市場の報告によると 春の値段は また上がり 客は減った。",
        "봄 시장 보고서에 따르면 가격이 다시 올랐다. वसंत के बाज़ार की रिपोर्ट बताती है कि दाम फिर बढ़े।",
        "يُظهر تقرير سوق الربيع أن الأسعار ارتفعت مرة أخرى. דו״ח השוק מראה שהמחירים עלו שוב.",
        "รายงานตลาด แสดงว่า ราคา สูงขึ้นอีก Η έκθεση δείχνει ότι οι τιμές ανέβηκαν ξανά.",
        "Báo cáo cho thấy giá lại tăng. گزارش بازار نشان می\u200cدهد که قیمت\u200cها بالا رفت.",
        "\U0001f469\u200d\U0001f33e \U0001f9fa €12",
    )
)


@cache
def sample(scripts: Scripts, *, size: int) -> str:
    """So many characters of words in no order."""
    words = (_ENGLISH if scripts == "ascii" else f"{_ENGLISH} {_OTHERS} {_OTHERS}").split()
    chance = random.Random(7)  # noqa: S311 - a text to be timed with, not a secret
    lines = (" ".join(chance.choices(words, k=14)) for _ in range(size // 40 + 1))
    return "\n".join(lines)[:size]
