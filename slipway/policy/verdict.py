"""A stack's policy applied to its facts. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from slipway.errors import PolicyError
from slipway.facts import Facts
from slipway.findings.finding import Finding, Grade, Subject
from slipway.findings.kinds import KINDS
from slipway.policy.rule import ADVISORY, MANDATORY, Breach
from slipway.policy.rule import Subject as Stack
from slipway.policy.rules import BY_KEY

_OF_LEVEL = {MANDATORY: KINDS["policy-violated"], ADVISORY: KINDS["policy-advice"]}


def violations(facts: Facts) -> tuple[Finding, ...]:
    """Every breach of the rules that the facts name in `policy`, the mandatory ones first. The name of a finding's
    subject is the rule's key.

    A rule that this version does not know is one that can't be shown to hold: it counts as broken.
    """
    stack = Stack(facts)
    return tuple(
        # Frozen: approvals know what breaks a rule by its words up to a colon, as of `user:ada@acme.example`.
        kind.of(Subject("policy", key, what.partition(":")[0]), f"{what}: {how}", field="slipway:policy")
        for level, kind in _OF_LEVEL.items()
        for key, setting in facts.policy.get(level, {}).items()
        for what, how in _breaches(key, stack, setting)
    )


def sentence(found: Finding) -> str:
    """The sentence with the rule that it breaks: `cluster h100: label team is missing [advisory policy labels]`."""
    level = MANDATORY if found.grade is Grade.BLOCKING else ADVISORY
    return f"{found.sentence} [{level} policy {found.subject.name}]"


def refuse(found: tuple[Finding, ...]) -> None:
    """Raises PolicyError when a mandatory rule is among those that are broken."""
    broken = [f"{one.sentence} [{one.subject.name}]" for one in found if one.grade is Grade.BLOCKING]
    if broken:
        raise PolicyError(
            f"the stack breaks {len(broken)} of its own mandatory rules, so nothing was changed",
            why="\n".join(broken),
            fix="change what breaks the rule, or the rule: slipway:policy in the stack file, which is reviewed too",
        )


def _breaches(key: str, stack: Stack, setting: Any) -> Iterable[Breach]:
    """A program that is under review may give a rule anything."""
    rule = BY_KEY.get(key)
    if rule is None:
        return ((f"unknown rule {key}", "this version of slipway can't check it"),)
    try:
        return tuple(rule.check(stack, setting))
    except (ArithmeticError, AttributeError, TypeError, ValueError) as problem:
        return ((f"setting {setting!r} of {rule.key}", f"this version of slipway can't check it ({problem})"),)
