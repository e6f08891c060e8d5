"""Credentials that only their place gives away: what is assigned to a password, sent as a header, written into an address.

Takes: nothing.  Gives: `CONTEXTS`, rows whose one group is the value that goes, and how sure a reader must be of it.
Never: decides about a value (see `randomness`).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Doubt = Literal["random", "long", "any"]


class Context(NamedTuple):
    """One place: `pattern` is read alike by RE2 and by `re`, its one group is the value; `doubt` says which values count."""

    id: str
    reason: str
    doubt: Doubt
    pattern: str
    found: str
    passed: str
    # How a further value of the same place follows; its one group is that value.
    again: str = ""


# The value may neither hold a bracket, so that a marker is never part of it, nor a colon, so that it is not a second assignment.
_VALUE = r"[A-Za-z0-9_+/~.=@!$%^&*#|-]"
_QUOTE = r"""(?:\\?["'`]){0,3}"""
_CLOSED = r"""(?:(?:\\?["'`]){1,3}\]?)?"""
_ASSIGNED = rf"(?:{_CLOSED}[ \t]{{0,8}}(?:[ \t:][ \t]?[A-Za-z]{{3,10}}[ \t]?)?(?:=>|[:?.|]{{0,3}}=|[:>]|[ \t]is[ \t])|\\?[\"'](?:,|[ \t]+value=))[ \t\r\n]{{0,12}}[bf]?{_QUOTE}"
_STRONG = (
    r"(?i:token|secret|passw(?:or)?d|passphrase|pwd|credential|[_-]pw|[_-]pass|authkey|auth[_-]key)[A-Za-z0-9_-]{0,16}"
)
_WEAK = r"(?i:[a-z0-9][_-]?key|[a-z0-9]client(?:[_-]?id)?|[_-]auth|(?:api|account|app)[_-]?id)"
_SIGNED_IN = r"[^\n|;]{0,200}?[ \t](?:-u|--user|-U|--proxy-user)[ =]?[\"']?[A-Za-z0-9._%+@-]{0,64}:([A-Za-z0-9_+/~.=@!%^&*#-]{3,})"

CONTEXTS: tuple[Context, ...] = (
    # (id, why it is a credential, which values count, place, an example that is found, one that is not)
    Context("password-in-url", "signs in as the user before it: `scheme://user:password@host`", "any", r"://[A-Za-z0-9._~%+!$&*-]{0,64}:([A-Za-z0-9._~%+!$&*=,;#-]{3,})@[A-Za-z0-9.-]", "postgres://app:<l12>@db.internal/main", "http://127.0.0.1:8080/@user"),
    Context("authorization-header", "acts as whoever was given it", "long", r"(?i:authorization|x-auth|proxy-auth)(?i:[a-z-]{0,12})(?:\\?[\"'])?[ \t]?[:=,][ \t]{0,4}(?:\\?[\"'])?(?:(?i:bearer|basic|token|apikey|bot|digest|negotiate)[ \t]+)?([A-Za-z0-9_+/~.=@:-]{8,})", "authorization=Bearer <32>", "authorization=Bearer TOKEN"),
    Context("bearer-token", "acts as whoever was given it (RFC 6750)", "random", r"\b(?i:bearer)[ \t]+([A-Za-z0-9_+/~.=-]{16,})", "sent with bearer <32>", "the bearer of this letter"),
    Context("connection-string", "signs in to a database or a bus", "any", r"(?i:;[ \t]*(?:password|pwd))=([A-Za-z0-9_+/~.@!$%^&*#-]{4,})", "Server=db;User Id=app;Password=<l9>;", "Server=db;Password=;"),
    Context("command-line-password", "signs in as the user before it: `curl -u user:password`", "any", rf"\bcurl\b{_SIGNED_IN}", "curl -s -u app:<l12> https://host.test", "curl -u app: https://host.test", _SIGNED_IN),
    Context("package-source-password", "signs in to a private source of packages: `BUNDLE_GEMS__HOST__COM=user:password`", "any", rf"\bBUNDLE_[A-Z0-9_]{{3,60}}{_ASSIGNED}([A-Za-z0-9._~-]{{3,}}:[A-Za-z0-9._~-]{{3,}})", "BUNDLE_GEMS__HOST__TEST=app:<l12>", "BUNDLE_PATH: vendor/bundle"),
    Context("assigned-secret", "what is assigned to a token, a secret or a password is one, unless it is words", "random", rf"{_STRONG}{_ASSIGNED}({_VALUE}{{8,}})", 'acme_token = "<32>"', 'acme_token = "read_from_environment"'),
    Context("assigned-key", "what is assigned to a key, a client or an account is a credential only if it is long and random", "long", rf"{_WEAK}{_ASSIGNED}({_VALUE}{{16,}})", "acmeApiKey: '<32>'", "sort_key: created_at_descending"),
)  # fmt: skip
