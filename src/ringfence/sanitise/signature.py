"""How an order to a model is told from text: one row of the tables beside this file, and the words that rows share.

Takes: nothing.  Gives: `Signature`, a row, and parts of patterns.  Never: looks at a text.

Rows are searched without regard to case in text whose look-alikes are plain ASCII. `GAP` may be empty, so that words
which were run together or pulled apart are found too.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Surface = Literal["any", "output", "description"]


class Signature(NamedTuple):
    """One pattern, read alike by RE2 and by `re`, without groups; `surface` says in which texts it is a sign of harm."""

    id: str
    surface: Surface
    reason: str
    pattern: str
    found: str
    passed: str


GAP = r"[\W_]{0,6}"
# A few words more, in the same sentence.
FEW = r"[^.!?]{0,24}?"
SOME = r"[^.!?]{0,60}?"
NEAR = r"[^\n]{0,120}?"

ASIDE = r"(?:ignor(?:e|es|ing)|disregard(?:s|ing)?|forget(?:s|ting)?|overlook|neglect|overrid(?:e|es|ing)|bypass(?:es|ing)?|discard|abandon|disobey|violate|unlearn|erase|pay no attention to|do not follow|don'?t follow|stop following|cease following)"
EARLIER = (
    r"(?:previous|prior|preceding|earlier|foregoing|above|former|past|initial|original|existing|current|old|precious)"
)
WHOSE = rf"(?:(?:all|any|every|each|of|the|your|my|our|its|these|those|this|that|other|system|safety|security|content|developer|ethical|moral|usage){GAP}){{0,5}}"
ORDERS = r"(?:\w{0,3}nstr\w{4,8}|direct(?:ion|ive)s?|commands?|orders?|rules?|guidelines?|guidance|guardrails?|polic(?:y|ies)|constraints?|restrictions?|prompts?|safeguards?|programming|protocols?|safety (?:measures?|controls?|checks?))"
THINGS = rf"(?:{ORDERS}|context|parameters?|messages?|conversations?|tasks?|training|filters?|text|inputs?|requests?)"

CREDENTIAL = r"(?:pass(?:word|phrase|code)s?|credentials?|api[ _-]?keys?|secret[ _-]?keys?|private[ _-]?keys?|access[ _-]?(?:keys?|tokens?)|auth(?:entication)?[ _-]?tokens?|ssh[ _-]?keys?|session[ _-]?(?:tokens?|cookies?)|seed phrases?|env(?:ironment)? var(?:iable)?s?)"
PRIVATE = rf"(?:{CREDENTIAL}|tokens|secrets|credit[ _-]?cards?(?: numbers?)?|social[ -]security[ -]numbers?|ssn|bank (?:account|details)|account[ _-]?numbers?|keystrokes?|clipboard|location history|browsing history|chat history|conversation history|personal (?:data|information)|sensitive (?:data|documents?|information)|phi records?|medical records?|system prompt)"
KEY_FILE = r"(?:/etc/(?:passwd|shadow|sudoers)\b|(?:~|\$home|/root|/home/\w{1,20})?/?\.ssh\b|\bid_(?:rsa|ed25519|ecdsa|dsa)\b|\.aws/(?:credentials|config)|\.kube/config|\.netrc\b|\.git-credentials|\.npmrc\b|\.pypirc\b|\.bash_history|\.docker/config|\.gnupg|(?:^|[\s'\"`/(])\.env\b|/proc/self/environ|mcp\.json|claude_desktop_config)"
