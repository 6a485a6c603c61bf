"""Effects of a change on the stack's own policy: rules that it breaks, of its own packs too, and rules it weakens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from slipway.authoring.policy.rule import LEVELS, MANDATORY
from slipway.authoring.policy.rules import BY_KEY, violations
from slipway.base.formatting import counted, short
from slipway.deploying.engine.preview import Objection
from slipway.model.facts import Facts
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.grades import GRADES, moved
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.change.change import Change, Side

_FILE = "slipway:policy"
_OURS = "slipway"
"""The pack of this repository, whose rules are those of the stack file, reported by the facts."""
_LONGEST_MESSAGE = 300
_LONGEST = 60
_MOST = 20
_MORE_ASKS_MORE = ("labels", "quotaHeadroom")


def policy(change: Change) -> Iterator[Finding]:
    """Judge by this version's rules, not by those of the one under review. An earlier breach is a standing warning."""
    yield from _of_packs(change)
    if change.after is None:
        return
    before = _violations(change.before)
    yield from (_in_words(one) for key, one in _violations(change.after).items() if key not in before)
    if change.before is not None:
        yield from _changed(change.before.policy, change.after.policy)
        yield from _regraded(change.before.policy.get(GRADES, {}), change.after.policy.get(GRADES, {}))


def _in_words(one: Finding) -> Finding:
    rule = f"Rule `{one.subject.name}` {'refuses the deployment' if one.grade is Grade.BLOCKING else 'is not followed'}"
    return replace(one, sentence=f"{rule}: {one.sentence}", clause=rule)


def _of_packs(change: Change) -> Iterator[Finding]:
    """Yield the objections of a team's own packs, which the engine starts beside the program, rule by rule."""
    by_rule: dict[tuple[str, str], list[Objection]] = {}
    for one in change.preview.objections if change.preview else ():
        if one.pack != _OURS:
            by_rule.setdefault((one.pack, one.rule), []).append(one)
    for (pack, rule), some in by_rule.items():
        kind = "policy-violated" if any(one.mandatory for one in some) else "policy-advice"
        does = "refuses the deployment" if kind == "policy-violated" else "is not followed"
        words = f"Rule `{short(rule, _LONGEST)}` of pack `{short(pack, _LONGEST)}` {does}"
        told = [
            f"`{short(one.about, _LONGEST)}`: {short(' '.join(one.message.split()), _LONGEST_MESSAGE)}" for one in some
        ]
        yield KINDS[kind].of(
            Subject("policy", rule, pack),
            f"{words}: {told[0]}" if len(told) == 1 else f"{words}, for {counted(len(told), 'resource')}",
            clause=words,
            details=tuple(told[:_MOST]) if len(told) > 1 else (),
        )


def policy_in_words(change: Change) -> str:
    """Return `ok`, `2 broken` for mandatory rules, `2 advised` for advisory ones alone; `none` without rules."""
    packs = [one.grade for one in _of_packs(change)]
    if Side.AFTER in change.unknown:
        return "unknown"
    if not packs and not any(change.after.policy.get(level) for level in LEVELS):
        return "none"
    broken = [*packs, *(one.grade for one in _violations(change.after).values())]
    mandatory = broken.count(Grade.BLOCKING)
    return f"{mandatory} broken" if mandatory else f"{len(broken)} advised" if broken else "ok"


def standing_violations(change: Change) -> Iterator[str]:
    before = _violations(change.before)
    yield from (one.sentence for key, one in _violations(change.after).items() if key in before)


def _violations(facts: Facts | None) -> Mapping[tuple[str, str], Finding]:
    found: dict[tuple[str, str], Finding] = {}
    for one in violations(facts) if facts else ():
        said = (found[one.key].sentence, one.sentence) if one.key in found else (one.sentence,)
        found[one.key] = replace(one, sentence="; ".join(said))
    return found


def _changed(before: Mapping[str, Mapping[str, Any]], after: Mapping[str, Mapping[str, Any]]) -> Iterator[Finding]:
    """Find rules that have become stricter or milder."""
    for key in dict.fromkeys(key for side in (before, after) for level in LEVELS for key in side.get(level, {})):
        was, level = _setting(before, key)
        now, becomes = _setting(after, key)
        stopped, stops = level == MANDATORY, becomes == MANDATORY
        rule, amounts = f"Rule `{key}`", f": {_shown(was)} → {_shown(now)}"
        if now is None:
            kind, words = "policy-weaker", f"{rule} is dropped{', and stops no deployment any more' if stopped else ''}"
        elif was is None:
            kind, words = "policy-added", f"{rule} is new{': what breaks it is refused' if stops else ''}"
        elif stopped and not stops:
            kind, words = "policy-weaker", f"{rule} only warns, and stops no deployment any more"
        elif stops and not stopped:
            kind, words = "policy-added", f"{rule} refuses what it only warned of"
        elif was == now:
            continue
        elif _asks_less(key, was, now):
            kind, words = "policy-weaker", f"{rule} allows more{amounts}"
        else:
            kind, words = "policy-added", f"{rule} asks for more{amounts}"
        less = kind == "policy-weaker"
        more = _text(key, None if was and now and level == becomes else now or was)
        grade = Grade.NOTE if less and not stopped else None
        yield KINDS[kind].of(Subject("policy", key), words, more=more, grade=grade, field=_FILE)


def _text(key: str, setting: Any) -> str:
    """Quote the rule, with its setting: `; it says “A job …” (12)`"""
    if key not in BY_KEY:
        return ""
    given = "" if isinstance(setting, bool | None) else f" ({short(_shown(setting), _LONGEST)})"
    return f"; it says “{BY_KEY[key].text.rstrip('.')}”{given}"


def _setting(policy: Mapping[str, Mapping[str, Any]], key: str) -> tuple[Any, str]:
    """Return a rule's settings and its level; None and no level where it is not set."""
    return next(((policy[level][key], level) for level in LEVELS if key in policy.get(level, {})), (None, ""))


def _regraded(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Finding]:
    for kind, was, becomes in moved(before, after):
        less, gate = was > becomes, Grade.BLOCKING in (was, becomes)
        is_ = f"needs {'no' if less else 'an'} approval" if gate else f"is {'only ' * less}a {becomes.review_word}"
        words = f"From then on `{kind}` {is_} in reviews of this stack"
        grade = None if not less else Grade.BLOCKING if gate else Grade.WARNING
        found = KINDS["policy-weaker" if less else "policy-added"]
        yield found.of(Subject("policy", GRADES, kind), words, grade=grade, field=_FILE)


def _asks_less(key: str, before: Any, after: Any) -> bool:
    if key in _MORE_ASKS_MORE:
        before, after = after, before
    if isinstance(before, list) and isinstance(after, list):
        return not set(after) <= set(before)
    if isinstance(before, bool) or isinstance(after, bool):
        return bool(before) and not after
    return bool(after > before)


def _shown(setting: Any) -> str:
    if isinstance(setting, list):
        return ", ".join(map(str, setting))
    return f"{setting:g}" if isinstance(setting, float) else f"{setting}"
