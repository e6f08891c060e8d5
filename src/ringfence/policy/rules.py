"""Rules in YAML, compiled: what they match, when they hold, what they decide, and examples that prove it.

Takes: rule lines.  Gives: `Rule`s, and the rules that concern one tool of one agent.
Never: loosens; a rule adds a reason, and the strictest reason wins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ringfence.contract.fingerprint import canonical, digest
from ringfence.contract.patterns import GlobSet
from ringfence.contract.remembering import remembered
from ringfence.policy.conditions import Condition, compile_conditions
from ringfence.policy.decision import Decision, Reason

MATCH_FIELDS = ("tool", "agent", "binding", "class", "egress")


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What a rule can match on; hashable, so that the rules for it are found once."""

    tool: str
    agent: str
    binding: str
    safety: str
    egress: str

    def __hash__(self) -> int:
        return self._hash

    @remembered
    def _hash(self) -> int:
        return hash((self.tool, self.agent, self.binding, self.safety, self.egress))

    def field(self, name: str) -> str:
        found: str = self.safety if name == "class" else getattr(self, name)
        return found


@dataclass(frozen=True, kw_only=True)
class Example:
    """A call that a rule's author says the rule holds for, or does not."""

    tool: str
    agent: str
    binding: str
    args: Mapping[str, Any]
    expected: Literal["holds", "not_holds"]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One compiled rule; `digest` is the name of its exact wording."""

    decision: Decision
    because: str
    mode: Literal["enforce", "shadow"]
    digest: str
    matchers: Mapping[str, GlobSet] = field(compare=False, repr=False)
    condition: Condition = field(compare=False, repr=False)
    examples: tuple[Example, ...] = ()

    def concerns(self, subject: Subject) -> bool:
        # A loop: making a generator for each of many rules costs more than what it would run.
        for name, globs in self.matchers.items():  # noqa: SIM110
            if not globs.matches(subject.field(name)):
                return False
        return True

    def reason(self, arguments: Mapping[str, Any]) -> Reason | None:
        """The rule's finding about these arguments; a rule that cannot judge them denies."""
        try:
            holds = self.condition(arguments)
        except Exception as error:  # an error while deciding is a denial, whatever it was
            because = f"rule «{self.because}» could not be evaluated: {type(error).__name__}"
            return Reason(kind="rule_error", decision=Decision.DENY, because=because, digest=self.digest)
        return self._finding if holds else None

    @remembered
    def _finding(self) -> Reason:
        return Reason(kind="rule", decision=self.decision, because=self.because, digest=self.digest)


def compile_rule(
    *,
    match: Mapping[str, tuple[str, ...]],
    when: Mapping[str, Any],
    decision: Decision,
    because: str,
    mode: Literal["enforce", "shadow"],
    examples: tuple[Example, ...],
) -> Rule:
    """A rule ready to judge; raises `ConditionInvalid` for a `when` that cannot be compiled."""
    wording = {
        "match": {k: list(v) for k, v in match.items()},
        "when": dict(when),
        "decision": decision.word,
        "because": because,
    }
    return Rule(
        decision=decision,
        because=because,
        mode=mode,
        digest=digest(canonical(wording)),
        matchers={name: GlobSet(globs) for name, globs in match.items()},
        condition=compile_conditions(when),
        examples=examples,
    )


class RuleBook:
    """All rules, with those that concern one subject looked up once."""

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self.rules = tuple(rules)
        self._concerning: dict[Subject, tuple[Rule, ...]] = {}

    def findings(self, subject: Subject, arguments: Mapping[str, Any]) -> tuple[list[Reason], list[Reason]]:
        """The reasons of the rules that hold: those that count, and those that only watch."""
        counted: list[Reason] = []
        watched: list[Reason] = []
        rules = self._concerning.get(subject)
        if rules is None:
            rules = self._for(subject)
        for rule in self._holding(rules, arguments) if rules else ():
            reason = rule.reason(arguments)
            if reason is not None:
                (counted if rule.mode == "enforce" else watched).append(reason)
        return counted, watched

    def _holding(self, rules: Sequence[Rule], arguments: Mapping[str, Any]) -> Sequence[Rule]:
        """The rules that may have a finding: few of many hold, and those that do not are passed over quickly."""
        try:
            return [rule for rule in rules if rule.condition(arguments)]
        except Exception:  # one of them cannot judge: each is asked by itself, and that one denies
            return rules

    def _for(self, subject: Subject) -> tuple[Rule, ...]:
        found = tuple(rule for rule in self.rules if rule.concerns(subject))
        self._concerning[subject] = found
        return found


def failing_examples(rule: Rule, *, classes_of: Callable[[str], tuple[str, str] | None]) -> Iterator[str]:
    """What is wrong with a rule's own examples; `classes_of` gives a tool's class and egress."""
    for example in rule.examples:
        classes = classes_of(example.tool)
        if classes is None:
            yield f"the example for `{example.tool}` names no registered tool"
            continue
        safety, egress = classes
        subject = Subject(tool=example.tool, agent=example.agent, binding=example.binding, safety=safety, egress=egress)
        reason = rule.reason(example.args) if rule.concerns(subject) else None
        if reason is not None and reason.kind == "rule_error":
            yield f"the example for `{example.tool}`: {reason.because}"
        elif (reason is not None) is (example.expected == "not_holds"):
            found = "holds" if reason else "does not hold"
            yield f"the rule «{rule.because}» {found} for an example under `{example.expected}`"
