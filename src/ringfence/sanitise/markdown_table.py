"""What Markdown fetches or hides, row by row: each with its reason, an example that is defused and one that stays.

Takes: nothing.  Gives: `MARKDOWN`, and the names of HTML's elements.  Never: looks at text (see `markdown`).
"""

from __future__ import annotations

from dataclasses import dataclass

ELEMENTS = frozenset(
    ["a", "abbr", "acronym", "animate", "applet", "area", "article", "aside", "audio", "b", "base", "basefont", "bdi", "bdo", "bgsound", "big", "blink", "blockquote", "body", "br", "button", "canvas", "caption", "center", "circle", "cite", "code", "col", "colgroup", "datalist", "dd", "defs", "del", "details", "dfn", "dialog", "div", "dl", "dt", "ellipse", "em", "embed", "fieldset", "figcaption", "figure", "font", "footer", "foreignobject", "form", "frame", "frameset", "g", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hgroup", "hr", "html", "i", "iframe", "img", "ins", "isindex", "kbd", "keygen", "legend", "li", "listing", "marquee", "math", "menuitem", "meta", "meter", "nav", "nobr", "noembed", "noframes", "noscript", "object", "ol", "optgroup", "p", "picture", "plaintext", "polygon", "portal", "pre", "progress", "q", "rect", "rp", "rt", "ruby", "samp", "script", "select", "shadow", "slot", "small", "spacer", "span", "strike", "strong", "style", "sub", "summary", "sup", "svg", "table", "tbody", "td", "template", "textarea", "tfoot", "th", "thead", "tr", "track", "tt", "u", "ul", "video", "wbr", "xmp"]
)  # fmt: skip

# Elements whose names people also write as a blank to fill in (`--output <path>`); bare, they show and do nothing.
WORDS = frozenset(
    ["address", "command", "content", "data", "desc", "dir", "element", "filter", "image", "input", "label", "line", "link", "main", "map", "mark", "menu", "option", "output", "param", "path", "search", "section", "set", "source", "time", "title", "use", "var"]
)  # fmt: skip


@dataclass(frozen=True)
class Defused:
    """One construct: its first character, the pattern of what follows, its finding, why, and what is one and what not."""

    id: str
    kind: str
    first: str
    rest: str
    reason: str
    hits: tuple[str, ...]
    misses: tuple[str, ...]


# The first part of an address that leads elsewhere: a scheme, two slashes, or what could be decoded into one.
_ELSEWHERE = r"\s{0,3}+(?:<|[/\\]{2}|[^\s()/?#<>]{0,40}?[:&\\])"

MARKDOWN: tuple[Defused, ...] = (
    Defused(
        "link", "markdown_fetch", "]", rf"(?=\({_ELSEWHERE})",
        "an image is fetched as soon as it is shown, a link as soon as it is touched or previewed, and a link can say another address than it has;"
        " a blank before the bracket leaves both as text, whatever they are nested in",
        ("![x](https://a.example/?q=1)", "[x](http://a.example)", "[![x](//a.example/i)](y)", "[x](\nhttps://a.example)", "[x](<https://a.example>)", "[x](https&colon;//a.example)", "[x](https\\://a.example)", "[x](javascript:go)"),
        ("[x](#part)", "[x](docs/page.md)", "[x] (https://a.example)", "f[i](a, b)", "https://a.example/page", "[x](../up.md \"t\")"),
    ),
    Defused(
        "definition", "markdown_hidden", "]", rf"(?=:(?:{_ELSEWHERE}|\s{{0,3}}+\S{{1,200}}?\s{{1,3}}+[\"'(]))",
        "a reference definition is shown to nobody; it gives an image its address, or holds a comment in its title",
        ("[a]: https://a.example/i.png", "[//]: # (note)", "> [a]: //a.example", "[a]:\nhttps://a.example", "[c]: <> (x)"),
        ("[INFO]: started", "[a]: b c d", "array[0]: https://a.example", "[INFO]: a: b", "[1] : https://a.example", "[^1]: see page 3"),
    ),
    Defused(
        "comment", "markdown_hidden", "<", "!--",
        "a comment is read by a model and shown to nobody",
        ("a<!-- x -->b", "<!---->", "<!-- never ended", "<!--\n-- x\n-->"),
        ("<- x ->", "a --> b", "!-- x --"),
    ),
    Defused(
        "declaration", "html", "<", r"(?=![A-Za-z]|!\[CDATA\[|\?[A-Za-z])",
        "what begins like this is hidden up to its end, which may never come",
        ("<!DOCTYPE html>", "<![CDATA[x", "<?php x"),
        ("a <! b", "x <? y", "<!!>"),
    ),
    Defused(
        "attribute", "html", "<", r"(?=/?+[A-Za-z][\w:.-]{0,40}+[\s/][^<>]{0,200}?\b(?:on\w{1,30}|src|srcset|href|style|background|poster|data|action)\s{0,3}+=(?!=))",
        "an element that nobody knows can still run, fetch or restyle by its attributes",
        ("<img src=x>", "<x-y onclick=go()>", "<foo src='https://a.example'>", "<svg:image xlink:href=x>"),
        ("<name or style>", "<x y=1>", "if a <c and src == d"),
    ),
    Defused(
        "element", "html", "<", r"(?=/?+[A-Za-z][A-Za-z0-9]{0,15}+(?:[\s/>]|\Z))",
        "elements fetch (`img`), hide (`details`, `span`), restyle and submit; none is needed to be read",
        ("<img>", "</div>", "<IMG/>", "<details>", "<b>y</b>", "<svg width=1>", "<script", "<input type=image>"),
        ("<name>", "a < b", "List<int>", "x<y", "<your-key>", "<image_url>", "1 <a2", "--output <path>", "</title>"),
    ),
    Defused(
        "address", "html", "<", r"(?=(?:javascript|vbscript|data|file)\s{0,3}+:)",
        "an address between angle brackets is a link; these schemes run, carry or read something",
        ("<javascript:go()>", "<DATA:text/html,x>", "<file:///etc>"),
        ("<https://a.example>", "<data>x", "<mail@a.example>"),
    ),
)  # fmt: skip
