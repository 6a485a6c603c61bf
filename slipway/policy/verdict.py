"""A stack's policy applied to its facts. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from slipway.errors import PolicyError
from slipway.facts import Facts
from slipway.policy.rule import LEVELS, MANDATORY, Rule, Subject, Violation
from slipway.policy.rules import BY_KEY


def violations(facts: Facts) -> tuple[Violation, ...]:
    """Every breach of the rules that the facts name in `policy`, the mandatory ones first.

    A rule that this version does not know is one that can't be shown to hold: it counts as broken.
    """
    return tuple(one for level in LEVELS for one in _of(facts, level))


def refuse(found: tuple[Violation, ...]) -> None:
    """Raises PolicyError when a mandatory rule is among those that are broken."""
    broken = [one.text + f" [{one.key}]" for one in found if one.level == MANDATORY]
    if broken:
        raise PolicyError(
            f"the stack breaks {len(broken)} of its own mandatory rules, so nothing was changed",
            why="\n".join(broken),
            fix="change what breaks the rule, or the rule: slipway:policy in the stack file, which is reviewed too",
        )


def _of(facts: Facts, level: str) -> Iterator[Violation]:
    subject = Subject(facts)
    for key, setting in facts.policy.get(level, {}).items():
        rule = BY_KEY.get(key)
        if rule is None:
            yield Violation(key, level, f"unknown rule {key}: this version of slipway can't check it")
        else:
            yield from (Violation(key, level, text) for text in _breaches(rule, subject, setting))


def _breaches(rule: Rule, subject: Subject, setting: Any) -> Iterable[str]:
    """A program that is under review may give a rule anything."""
    try:
        return tuple(rule.check(subject, setting))
    except (ArithmeticError, AttributeError, TypeError, ValueError) as problem:
        return (f"setting {setting!r} of {rule.key}: this version of slipway can't check it ({problem})",)
