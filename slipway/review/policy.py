"""Effects of a change on the stack's own policy: rules that it breaks, and rules that it weakens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from slipway.facts import Facts
from slipway.findings.finding import Finding, Grade, Subject
from slipway.findings.grades import GRADES, lowered
from slipway.findings.kinds import KINDS
from slipway.policy.rule import ADVISORY, LEVELS, MANDATORY
from slipway.policy.rules import sentence, violations
from slipway.review.change import Change

_FILE = "slipway:policy"
_MORE_ASKS_MORE = ("labels", "quotaHeadroom")


def policy(change: Change) -> Iterator[Finding]:
    """Judge by this version's rules, not by those of the one under review. What was broken before is a standing
    warning."""
    if change.after is None:
        return
    before = _violations(change.before)
    yield from (one for key, one in _violations(change.after).items() if key not in before)
    if change.before is not None:
        yield from _weaker(change.before.policy, change.after.policy)
        yield from _lowered(change.before.policy.get(GRADES, {}), change.after.policy.get(GRADES, {}))


def policy_in_words(after: Facts | None) -> str:
    """`ok`, `2 broken` of the mandatory rules, `2 advised` where only advisory ones are; `none` without rules."""
    if after is None:
        return "unknown"
    if not any(after.policy.get(level) for level in LEVELS):
        return "none"
    broken = [one.grade for one in _violations(after).values()]
    mandatory = broken.count(Grade.BLOCKING)
    return f"{mandatory} broken" if mandatory else f"{len(broken)} advised" if broken else "ok"


def standing_violations(change: Change) -> Iterator[str]:
    before = _violations(change.before)
    yield from (one.sentence for key, one in _violations(change.after).items() if key in before)


def _violations(facts: Facts | None) -> Mapping[tuple[str, str], Finding]:
    found: dict[tuple[str, str], Finding] = {}
    for one in violations(facts) if facts else ():
        said = (found[one.key].sentence, sentence(one)) if one.key in found else (sentence(one),)
        found[one.key] = replace(one, sentence="; ".join(said))
    return found


def _weaker(before: Mapping[str, Mapping[str, Any]], after: Mapping[str, Mapping[str, Any]]) -> Iterator[Finding]:
    kept, told = after.get(MANDATORY, {}), after.get(ADVISORY, {})
    for level, rules in ((MANDATORY, before.get(MANDATORY, {})), (ADVISORY, before.get(ADVISORY, {}))):
        for key, setting in rules.items():
            now = kept.get(key, told.get(key) if level == ADVISORY else None)
            words = f": `{_shown(setting)}` → `{_shown(now)}`"
            if now is None:
                words = " is advisory now" if key in told else " is dropped"
            elif (level == ADVISORY and key in kept) or not _asks_less(key, setting, now):
                continue
            grade = Grade.NOTE if level == ADVISORY else None
            words = f"{level} rule `{key}`{words}"
            yield KINDS["policy-weaker"].of(Subject("policy", key), words, grade=grade, field=_FILE)


def _lowered(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Finding]:
    for kind, was, becomes in lowered(before, after):
        opens = "needs no approval" if was is Grade.BLOCKING else f"is only a {becomes.review_word}"
        words = f"From then on `{kind}` {opens} in reviews of this stack"
        grade = Grade.BLOCKING if was is Grade.BLOCKING else Grade.WARNING
        yield KINDS["policy-weaker"].of(Subject("policy", GRADES, kind), words, grade=grade, field=_FILE)


def _asks_less(key: str, before: Any, after: Any) -> bool:
    if key in _MORE_ASKS_MORE:
        before, after = after, before
    if isinstance(before, list) and isinstance(after, list):
        return not set(after) <= set(before)
    if isinstance(before, bool) or isinstance(after, bool):
        return bool(before) and not after
    return bool(after > before)


def _shown(setting: Any) -> str:
    return ", ".join(map(str, setting)) if isinstance(setting, list) else f"{setting}"
