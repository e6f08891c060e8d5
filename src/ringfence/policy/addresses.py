"""What one address of a channel looks like, and the one spelling in which two of them are compared.

Takes: a channel and a text from a model, or a pattern from the config file.  Gives: the normal spelling.
Never: guesses; a text that could be read as two addresses, or as none, is refused.

| channel               | one address is                | compared               | because                             |
|-----------------------|-------------------------------|------------------------|-------------------------------------|
| email                 | local@domain, no display name | folded, domain in IDNA | mail does not tell `A` from `a`     |
| sms, whatsapp, signal | E.164: + and 7 to 15 digits   | as it is               | a number without its country is two |
| any other             | one token                     | as it is               | its letters may matter there        |
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from ringfence.contract.hosts import normalise_host
from ringfence.errors import CallRefused

_LONGEST = 320
_LONGEST_LOCAL = 64
# Letters that other mail software is sure to read alike. `%` and `!` route on through a listed domain to another one;
# quotes, brackets and commas make one text two addresses.
_LOCAL = re.compile(r"[a-z0-9_+'&=~#$^{}-]+(?:\.[a-z0-9_+'&=~#$^{}-]+)*")
_E164 = re.compile(r"\+[1-9][0-9]{6,14}")
_SEPARATORS = frozenset(',;<>"')
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"})
_GLOB = frozenset("*?")


class NotAnAddress(ValueError):
    """Why a text is not exactly one address of its channel."""


def one_address(text: object, *, channel: str) -> str:
    """The normal spelling of exactly one address, or `NotAnAddress`."""
    if not isinstance(text, str) or not 0 < len(text) <= _LONGEST:
        raise NotAnAddress(f"not a text of 1 to {_LONGEST} characters")
    if any(unicodedata.category(letter) in _HIDDEN for letter in text):
        raise NotAnAddress("white space, control or invisible characters")
    return _grammar(channel).address(text)


def address_pattern(pattern: str, *, channel: str) -> str:
    """The normal spelling of a pattern over addresses; `*` alone is everybody."""
    if any(unicodedata.category(letter) in _HIDDEN for letter in pattern) or not pattern:
        raise NotAnAddress("a pattern without white space or invisible characters is meant")
    return pattern if pattern == "*" else _grammar(channel).pattern(pattern)


def _email(text: str) -> str:
    local, at, domain = text.partition("@")
    folded = local.lower()
    if not at or not _LOCAL.fullmatch(folded) or len(folded) > _LONGEST_LOCAL:
        raise NotAnAddress("not one address like `name@domain`")
    return f"{folded}@{_domain(domain)}"


def _domain(text: str) -> str:
    try:
        name = normalise_host(text)
    except CallRefused:
        raise NotAnAddress("no mail domain after the `@`") from None
    if "." not in name or ":" in name or name.replace(".", "").isdigit():
        raise NotAnAddress("no mail domain after the `@`")
    if not text.isascii() and _older_reading(text) not in (None, name):
        raise NotAnAddress("a domain that older software reads as another one")
    return name


def _older_reading(text: str) -> str | None:
    """The domain as IDNA 2003 reads it, which Python's own mail library still does: `ß` is `ss` there."""
    try:
        return text.encode("idna").decode("ascii").lower().removesuffix(".")
    except UnicodeError:
        return None


def _email_pattern(pattern: str) -> str:
    local, at, domain = pattern.partition("@")
    if not at or "@" in domain or not local:
        raise NotAnAddress("a pattern over mail has one `@`, like `*@customers.example`")
    if domain == "*":
        return f"{local.lower()}@*"
    star = "*." if domain.startswith("*.") else ""
    rest = domain.removeprefix("*.")
    if _GLOB & set(rest):
        raise NotAnAddress("after the `@`, `*` stands for everything or for sub-domains: `*@*.customers.example`")
    return f"{local.lower()}@{star}{_domain(rest)}"


def _number(text: str) -> str:
    if not _E164.fullmatch(text):
        raise NotAnAddress("not one number like `+498912345678`")
    return text


def _number_pattern(pattern: str) -> str:
    if not re.fullmatch(r"\+[0-9*?]{1,15}", pattern):
        raise NotAnAddress("a pattern over numbers starts with `+` and a country, like `+49*`")
    return pattern


def _token(text: str) -> str:
    if _SEPARATORS & set(text):
        raise NotAnAddress("more than one token")
    return text


@dataclass(frozen=True, kw_only=True)
class _Grammar:
    address: Callable[[str], str]
    pattern: Callable[[str], str]


_MAIL = _Grammar(address=_email, pattern=_email_pattern)
_PHONE = _Grammar(address=_number, pattern=_number_pattern)
_TOKEN = _Grammar(address=_token, pattern=_token)
_GRAMMARS = {"email": _MAIL, "sms": _PHONE, "whatsapp": _PHONE, "signal": _PHONE}


def _grammar(channel: str) -> _Grammar:
    return _GRAMMARS.get(channel, _TOKEN)
