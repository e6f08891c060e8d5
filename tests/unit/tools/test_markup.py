"""A page's text is what a reader would read."""

from __future__ import annotations

import time

import pytest

from ringfence.tools.markup import plain_text

pytestmark = pytest.mark.req("OPS-9")


def test_markup_scripts_and_styles_are_left_out() -> None:
    page = (
        "<!doctype html><html><head><title>A page</title><style>p { color: red }</style>"
        "<script>steal('<p>not read</p>')</script></head><body><h1>Hello&nbsp;&amp; welcome</h1>"
        "<p>One   two<br>three</p><!-- hidden --><ul><li>four<li>five</ul><noscript>six</noscript></body></html>"
    )
    assert plain_text(page) == "A page\nHello & welcome\nOne two\nthree\nfour\nfive"


def test_what_stands_in_quotes_does_not_end_a_tag_and_what_is_no_tag_is_text() -> None:
    assert plain_text("<a title=\"x > y\" href='z'>link</a> 1 < 2, 3 <4> &lt;b&gt;") == "link 1 < 2, 3 <4> <b>"
    assert plain_text("<SCRIPT type=x>hidden</Script>seen<!DOCTYPE x><?php hidden ?>") == "seen"
    assert plain_text("one\ntwo<p>three\r\nfour") == "one two\nthree four"


@pytest.mark.parametrize(
    "unit",
    ["<", "<!--", "<!", "<a ", "<a b='", "</", "&#", "&", "<![CDATA[", "<?", "<script>", "<a b=c ", "<p>", "-->"],
)
def test_no_page_takes_longer_than_its_length(unit: str) -> None:
    started = time.process_time()
    plain_text(unit * (512 * 1024 // len(unit)))
    assert time.process_time() - started < 3


@pytest.mark.parametrize("page", ["", "<", "<<<>>>", "<p", "</p></p>", "<script>never ended", "&#xD800;", "<![CDATA["])
def test_a_broken_page_is_read_as_far_as_it_goes(page: str) -> None:
    assert isinstance(plain_text(page), str)
