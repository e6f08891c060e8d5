"""A page's text is what a reader would read."""

from __future__ import annotations

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


@pytest.mark.parametrize("page", ["", "<", "<<<>>>", "<p", "</p></p>", "<script>never ended", "&#xD800;", "<![CDATA["])
def test_a_broken_page_is_read_as_far_as_it_goes(page: str) -> None:
    assert isinstance(plain_text(page), str)
